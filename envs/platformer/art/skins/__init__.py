"""The 27 character skins as pixel maps, a few to a module."""

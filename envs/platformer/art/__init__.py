"""The drawing scripts behind the bundled pictures: backgrounds and character skins."""

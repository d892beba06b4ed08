"""What a pair claims, proved: from its declarations when it is loaded, and by playing it."""

from protocols.audit.declared import audit, independent
from protocols.audit.rollouts import SideProof, audit_rollouts
from protocols.audit.support import disjoint, dose_seen, share_inside, share_seen, unseen_sides

__all__ = [
    "SideProof",
    "audit",
    "audit_rollouts",
    "disjoint",
    "dose_seen",
    "independent",
    "share_inside",
    "share_seen",
    "unseen_sides",
]

"""The contract of `weft.ports.Store`, whole. Needs pytest.

A backend is done when a subclass that gives `make_store` passes.
"""

from __future__ import annotations

from weft.testing.backlinks_contract import BacklinksContract
from weft.testing.changes_contract import ChangesContract
from weft.testing.clocks_contract import ClocksContract
from weft.testing.deletions_contract import DeletionsContract
from weft.testing.erasure_contract import ErasureContract
from weft.testing.fence_contract import FenceContract
from weft.testing.guards_contract import GuardsContract
from weft.testing.log_contract import LogContract
from weft.testing.names_contract import NamesContract
from weft.testing.reading_contract import ReadingContract
from weft.testing.relations_contract import RelationsContract
from weft.testing.sealed_contract import SealedContract
from weft.testing.spaces_contract import SpacesContract
from weft.testing.survey_contract import SurveyContract
from weft.testing.travel_contract import TravelContract
from weft.testing.vectors_contract import VectorsContract
from weft.testing.walks_contract import WalksContract
from weft.testing.whence_contract import WhenceContract
from weft.testing.words_contract import WordsContract


class StoreContract(
    LogContract,
    TravelContract,
    ClocksContract,
    ReadingContract,
    WordsContract,
    ChangesContract,
    GuardsContract,
    VectorsContract,
    SpacesContract,
    WalksContract,
    NamesContract,
    BacklinksContract,
    FenceContract,
    DeletionsContract,
    WhenceContract,
    RelationsContract,
    SealedContract,
    ErasureContract,
    SurveyContract,
):
    """Every subject of the contract."""

"""The whole contract of `weft.core.ports.Store`. Needs pytest.

A backend is complete when its subclass with `make_store` passes.
"""

from __future__ import annotations

from weft.testing.contracts.backlinks_contract import BacklinksContract
from weft.testing.contracts.changes_contract import ChangesContract
from weft.testing.contracts.clocks_contract import ClocksContract
from weft.testing.contracts.deletions_contract import DeletionsContract
from weft.testing.contracts.erasure_contract import ErasureContract
from weft.testing.contracts.fence_contract import FenceContract
from weft.testing.contracts.guards_contract import GuardsContract
from weft.testing.contracts.log_contract import LogContract
from weft.testing.contracts.names_contract import NamesContract
from weft.testing.contracts.provenance_contract import ProvenanceContract
from weft.testing.contracts.reading_contract import ReadingContract
from weft.testing.contracts.relations_contract import RelationsContract
from weft.testing.contracts.sealed_contract import SealedContract
from weft.testing.contracts.spaces_contract import SpacesContract
from weft.testing.contracts.steps_contract import StepsContract
from weft.testing.contracts.survey_contract import SurveyContract
from weft.testing.contracts.travel_contract import TravelContract
from weft.testing.contracts.vectors_contract import VectorsContract
from weft.testing.contracts.walks_contract import WalksContract
from weft.testing.contracts.words_contract import WordsContract


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
    ProvenanceContract,
    RelationsContract,
    SealedContract,
    ErasureContract,
    SurveyContract,
    StepsContract,
):
    """Every subject of the contract."""

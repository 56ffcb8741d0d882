import harbour.store.files
import harbour.booking as desk_module
from harbour import Ferry, open as open_harbour


def storm(ferry: Ferry) -> None:
    ferry.hail()
    harbour.store.files.FileStore("log").close()
    desk = desk_module.Desk(open_harbour("log"))
    desk.book("Anna", 3).free()

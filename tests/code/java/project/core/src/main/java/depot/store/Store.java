package depot.store;

import java.util.Optional;

/** Keeps items. */
public interface Store extends AutoCloseable {
    Optional<Item> find(String name);

    Store put(Item item);

    /** Puts many. */
    default Store putAll(Item... items) {
        for (Item item : items) {
            put(item);
        }
        return this;
    }

    @Override
    void close();
}

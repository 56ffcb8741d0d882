package depot.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MemoryTest {
    private Memory memory;

    @BeforeEach
    void made() {
        memory = new Memory();
    }

    @Test
    void putsAndFinds() {
        memory.put(item("hammer")).close();
        assertEquals("TOOL hammer", item("hammer").label());
    }

    private static Item item(String name) {
        return new Item(name);
    }
}

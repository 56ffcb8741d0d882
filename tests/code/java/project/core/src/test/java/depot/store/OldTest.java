package depot.store;

import junit.framework.TestCase;

public class OldTest extends TestCase {
    public void testKind() {
        assertEquals("tool", Item.Kind.PART.label());
    }
}

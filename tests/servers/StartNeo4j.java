import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.connectors.HttpConnector;
import org.neo4j.configuration.connectors.HttpsConnector;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;

/** Starts Neo4j with Bolt alone on a loopback port; stops it when standard input ends, so that it outlives no test. */
public final class StartNeo4j {
    public static void main(String[] arguments) throws Exception {
        SocketAddress address = new SocketAddress("127.0.0.1", Integer.parseInt(arguments[1]));
        DatabaseManagementService server = new DatabaseManagementServiceBuilder(Path.of(arguments[0]))
            .setConfig(BoltConnector.enabled, true)
            .setConfig(BoltConnector.listen_address, address)
            .setConfig(BoltConnector.advertised_address, address)
            .setConfig(HttpConnector.enabled, false)
            .setConfig(HttpsConnector.enabled, false)
            .setConfig(GraphDatabaseSettings.auth_enabled, true)
            .setConfig(GraphDatabaseSettings.pagecache_memory, 256L << 20)
            // Planning is most of what a test costs: plans made on an empty database are kept.
            .setConfig(GraphDatabaseSettings.cypher_min_replan_interval, Duration.ofHours(1))
            .build();
        Path done = Path.of(arguments[0], "has-password");
        if (!Files.exists(done)) { // the server refuses to set the one it has
            server.database("system").executeTransactionally(
                "ALTER USER neo4j SET PASSWORD $password CHANGE NOT REQUIRED",
                Map.of("password", System.getenv("NEO4J_TEST_PASSWORD")));
            Files.createFile(done);
        }
        System.out.println("ready");
        while (System.in.read() >= 0) { }
        server.shutdown();
        System.exit(0);
    }
}

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.bookkeeper.client.LedgerMetadataBuilder;
import org.apache.bookkeeper.client.api.DigestType;
import org.apache.bookkeeper.client.api.LedgerMetadata;
import org.apache.bookkeeper.conf.ClientConfiguration;
import org.apache.bookkeeper.discover.RegistrationClient;
import org.apache.bookkeeper.meta.LayoutManager;
import org.apache.bookkeeper.meta.LedgerManager;
import org.apache.bookkeeper.meta.LedgerManagerFactory;
import org.apache.bookkeeper.meta.MetadataClientDriver;
import org.apache.bookkeeper.net.BookieId;
import org.apache.bookkeeper.stats.StatsLogger;
import org.apache.bookkeeper.versioning.LongVersion;
import org.apache.bookkeeper.versioning.Versioned;

/**
 * A metadata driver for BookKeeper's client without a store: it knows the ledgers it was told of, as closed at the last entry that may be read, and changes
 * nothing. BookKeeper makes it by its class.
 */
public final class KnownLedgers implements MetadataClientDriver {
    static final String SCHEME = "known";
    static final byte[] NO_PASSWORD = new byte[0];

    private static final Map<Long, LedgerMetadata> LEDGERS = new ConcurrentHashMap<>();
    private static final Pattern ENSEMBLE = Pattern.compile("(\\d+)=\\[([^\\[\\]=]+)\\]");

    /** Tells of a ledger; {@code text} is its metadata as the admin service has it. */
    static void add(long id, long last, String text) {
        LedgerMetadataBuilder builder = LedgerMetadataBuilder.create().withId(id).withMetadataFormatVersion(number(text, "formatVersion"))
            .withEnsembleSize(number(text, "ensembleSize")).withWriteQuorumSize(number(text, "writeQuorumSize"))
            .withAckQuorumSize(number(text, "ackQuorumSize")).withDigestType(DigestType.CRC32C).withPassword(NO_PASSWORD);
        Matcher ensembles = ENSEMBLE.matcher(text);
        while (ensembles.find()) {
            List<BookieId> bookies = Arrays.stream(ensembles.group(2).split(", *")).map(BookieId::parse).toList();
            builder = builder.newEnsembleEntry(Long.parseLong(ensembles.group(1)), bookies);
        }
        LEDGERS.put(id, builder.withClosedState().withLastEntryId(last).withLength(0).build());
    }

    private static int number(String text, String name) {
        Matcher found = Pattern.compile(name + "=(\\d+)").matcher(text);
        if (!found.find()) {
            throw new IllegalArgumentException("no " + name + " in " + text);
        }
        return Integer.parseInt(found.group(1));
    }

    @Override
    public MetadataClientDriver initialize(ClientConfiguration settings, ScheduledExecutorService scheduler, StatsLogger stats, Optional<Object> context) {
        return this;
    }

    @Override
    public String getScheme() {
        return SCHEME;
    }

    /** Bookies are where their ids say, which the interface's own methods know; none is ever chosen for writing. */
    @Override
    public RegistrationClient getRegistrationClient() {
        Versioned<Set<BookieId>> none = new Versioned<>(Set.of(), new LongVersion(0));
        return answering(RegistrationClient.class, (proxy, method, arguments) -> switch (method.getName()) {
            case "getWritableBookies", "getAllBookies", "getReadOnlyBookies" -> CompletableFuture.completedFuture(none);
            case "watchWritableBookies", "watchReadOnlyBookies" -> {
                ((RegistrationClient.RegistrationListener) arguments[0]).onBookiesChanged(none);
                yield CompletableFuture.completedFuture(null);
            }
            case "getBookieServiceInfo" -> InvocationHandler.invokeDefault(proxy, method, arguments);
            default -> null;
        });
    }

    @Override
    public LedgerManagerFactory getLedgerManagerFactory() {
        LedgerManager ledgers = answering(LedgerManager.class, (proxy, method, arguments) -> switch (method.getName()) {
            case "readLedgerMetadata" ->
                CompletableFuture.completedFuture(new Versioned<>(LEDGERS.get((Long) arguments[0]), new LongVersion(0)));
            case "registerLedgerMetadataListener", "unregisterLedgerMetadataListener", "close" -> null;
            default -> throw new UnsupportedOperationException(method.getName());
        });
        return answering(LedgerManagerFactory.class, (proxy, method, arguments) -> method.getName().equals("newLedgerManager") ? ledgers : null);
    }

    private static <T> T answering(Class<T> type, InvocationHandler answers) {
        return type.cast(Proxy.newProxyInstance(KnownLedgers.class.getClassLoader(), new Class<?>[] {type}, answers));
    }

    @Override
    public LayoutManager getLayoutManager() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void setSessionStateListener(SessionStateListener listener) {}

    @Override
    public void close() {}
}

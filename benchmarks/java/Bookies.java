import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.bookkeeper.client.BookKeeper;
import org.apache.bookkeeper.client.DefaultEnsemblePlacementPolicy;
import org.apache.bookkeeper.client.api.DigestType;
import org.apache.bookkeeper.client.api.LedgerEntries;
import org.apache.bookkeeper.client.api.LedgerEntry;
import org.apache.bookkeeper.client.api.ReadHandle;
import org.apache.bookkeeper.conf.ClientConfiguration;
import org.apache.bookkeeper.meta.MetadataDrivers;

/**
 * BookKeeper's client by itself: reads the ledgers of a topic as fast as bookies give them, checks their digests and decodes nothing. It is what every read
 * bypassing the broker costs at least. Bytes are those of entries, rows are worked out from their number.
 */
final class Bookies extends Commands {
    private static final int MEBIBYTE = 1024 * 1024;
    private static final int WINDOW_BYTES = MEBIBYTE;
    private static final int MOST_BYTES = 5 * MEBIBYTE;
    private static final int IN_FLIGHT = 4;
    private static final int MOST_ENTRIES = 10_000;
    private static final long SECONDS = 60;

    private final ObjectMapper json = new ObjectMapper();
    private final HttpClient http = HttpClient.newBuilder().proxy(HttpClient.Builder.NO_PROXY).build();
    private final String adminUrl;
    private final BookKeeper client;

    /** A ledger's entries from 0 to {@code last}. */
    private record Ledger(long id, long last, long entryBytes) {}

    private Bookies(String adminUrl) throws Exception {
        this.adminUrl = adminUrl;
        MetadataDrivers.registerClientDriver(KnownLedgers.SCHEME, KnownLedgers.class, true);
        ClientConfiguration settings = new ClientConfiguration();
        settings.setMetadataServiceUri(KnownLedgers.SCHEME + "://none/ledgers");
        settings.setEnsemblePlacementPolicy(DefaultEnsemblePlacementPolicy.class);
        settings.setUseV2WireProtocol(true);
        settings.setBatchReadEnabled(true);
        settings.setThrottleValue(0);
        settings.setStickyReadsEnabled(true);
        settings.setNumIOThreads(2);
        settings.setNumWorkerThreads(2);
        settings.setNettyMaxFrameSizeBytes(MOST_BYTES + 10 * 1024);
        client = new BookKeeper(settings);
    }

    public static void main(String[] arguments) throws Exception {
        new Bookies(arguments[0]).serve();
        System.exit(0); // BookKeeper's threads would go on
    }

    @Override
    Done act(String action, Arguments arguments) throws Exception {
        if (!action.equals("scan")) {
            throw new IllegalArgumentException(action);
        }
        List<Ledger> ledgers = new ArrayList<>();
        for (int partition = 0; partition < arguments.number("partitions"); partition++) {
            ledgers.addAll(ledgersOf(arguments.partition(partition)));
        }
        int threads = arguments.number("threads");
        Done entries = inParallel(threads, index -> {
            Done all = new Done(0, 0);
            for (Ledger ledger : ledgers) {
                long count = ledger.last + 1;
                all = all.plus(read(ledger, count * index / threads, count * (index + 1) / threads - 1));
            }
            return all;
        });
        return new Done(entries.rows() * arguments.number("batch"), entries.bytes());
    }

    /** Entries from {@code first} to {@code last}, some windows of them always on their way. */
    private Done read(Ledger ledger, long first, long last) throws Exception {
        long most = Math.max(1, Math.min(MOST_ENTRIES, WINDOW_BYTES / ledger.entryBytes));
        Done all = new Done(0, 0);
        try (ReadHandle handle = client.newOpenLedgerOp().withLedgerId(ledger.id).withRecovery(false).withDigestType(DigestType.CRC32C)
            .withPassword(KnownLedgers.NO_PASSWORD).execute().get(SECONDS, TimeUnit.SECONDS)) {
            ArrayDeque<CompletableFuture<Done>> windows = new ArrayDeque<>();
            for (long next = first; next <= last || !windows.isEmpty();) {
                while (windows.size() < IN_FLIGHT && next <= last) {
                    long end = Math.min(last, next + most - 1);
                    windows.add(window(handle, next, end));
                    next = end + 1;
                }
                all = all.plus(windows.remove().get(SECONDS, TimeUnit.SECONDS));
            }
        }
        return all;
    }

    /** Bookies answer with as many of the entries as they like; the rest is asked for again. */
    private static CompletableFuture<Done> window(ReadHandle handle, long first, long last) {
        return handle.batchReadAsync(first, (int) (last - first + 1), MOST_BYTES).thenCompose(answer -> {
            Done some = counted(answer);
            if (some.rows() == 0) {
                throw new IllegalStateException("no entry " + first + " of ledger " + handle.getId());
            }
            long next = first + some.rows();
            return next > last ? CompletableFuture.completedFuture(some) : window(handle, next, last).thenApply(some::plus);
        });
    }

    private static Done counted(LedgerEntries answer) {
        try (answer) {
            long entries = 0;
            long bytes = 0;
            for (LedgerEntry entry : answer) {
                entries++;
                bytes += entry.getEntryBuffer().readableBytes(); // its length would be that of the ledger up to it
            }
            return new Done(entries, bytes);
        }
    }

    /** Asks the broker for the ledgers of a partition, up to the last entry it has confirmed. */
    private List<Ledger> ledgersOf(String partition) throws Exception {
        URI address = URI.create(adminUrl + "/admin/v2/persistent/public/default/" + partition + "/internalStats?metadata=true");
        JsonNode stats = json.readTree(http.send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString()).body());
        String[] confirmed = stats.path("lastConfirmedEntry").asText().split(":");
        List<Ledger> found = new ArrayList<>();
        for (JsonNode ledger : stats.path("ledgers")) {
            long id = ledger.path("ledgerId").asLong();
            boolean isOpen = id == Long.parseLong(confirmed[0]);
            long last = isOpen ? Long.parseLong(confirmed[1]) : ledger.path("entries").asLong() - 1;
            long bytes = ledger.path("size").asLong();
            if (last >= 0) {
                KnownLedgers.add(id, last, ledger.path("metadata").asText());
                found.add(new Ledger(id, last, Math.max(1, (bytes > 0 ? bytes : stats.path("currentLedgerSize").asLong()) / (last + 1))));
            }
        }
        return found;
    }
}

package io.github.pulsarspark.storage.bookkeeper.client;

import java.util.function.Supplier;
import org.apache.bookkeeper.conf.AbstractConfiguration;
import org.apache.bookkeeper.meta.LayoutManager;
import org.apache.bookkeeper.meta.LedgerAuditorManager;
import org.apache.bookkeeper.meta.LedgerIdGenerator;
import org.apache.bookkeeper.meta.LedgerManager;
import org.apache.bookkeeper.meta.LedgerManagerFactory;
import org.apache.bookkeeper.meta.LedgerUnderreplicationManager;
import org.apache.bookkeeper.proto.BookkeeperInternalCallbacks.GenericCallback;

/**
 * Makes the ledger manager of a client that only reads. In Java, because Scala has no way to implement methods of raw
 * types such as these.
 */
@SuppressWarnings("rawtypes")
final class ReadOnlyLedgersFactory implements LedgerManagerFactory {

    private final Supplier<LedgerManager> ledgers;

    ReadOnlyLedgersFactory(Supplier<LedgerManager> ledgers) {
        this.ledgers = ledgers;
    }

    @Override
    public LedgerManager newLedgerManager() {
        return ledgers.get();
    }

    /** BookKeeper's client makes one at its start and asks it when it creates a ledger. */
    @Override
    public LedgerIdGenerator newLedgerIdGenerator() {
        return new LedgerIdGenerator() {
            @Override
            public void generateLedgerId(GenericCallback<Long> answer) {
                throw refused();
            }

            @Override
            public void close() { }
        };
    }

    @Override
    public int getCurrentVersion() {
        return 0;
    }

    @Override
    public LedgerManagerFactory initialize(AbstractConfiguration conf, LayoutManager layout, int version) {
        return this;
    }

    @Override
    public void close() { }

    @Override
    public LedgerUnderreplicationManager newLedgerUnderreplicationManager() {
        throw refused();
    }

    @Override
    public LedgerAuditorManager newLedgerAuditorManager() {
        throw refused();
    }

    @Override
    public void format(AbstractConfiguration conf, LayoutManager layout) {
        throw refused();
    }

    @Override
    public boolean validateAndNukeExistingCluster(AbstractConfiguration conf, LayoutManager layout) {
        throw refused();
    }

    private static UnsupportedOperationException refused() {
        return new UnsupportedOperationException("this BookKeeper client only reads");
    }
}

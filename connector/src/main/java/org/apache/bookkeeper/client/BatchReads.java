package org.apache.bookkeeper.client;

import org.apache.bookkeeper.client.api.ReadHandle;

/** Reads package-private state of BookKeeper's client about batch reads. */
public final class BatchReads {

    private BatchReads() { }

    /**
     * True if the client gave up batch reads of a ledger because no bookie kept the connection open. If reads of single
     * entries succeed nevertheless, the bookies are older than BookKeeper 4.17.
     */
    public static boolean gaveUp(ReadHandle handle) {
        return handle instanceof LedgerHandle && ((LedgerHandle) handle).notSupportBatch;
    }
}

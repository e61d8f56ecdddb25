package org.apache.pulsar.client.impl;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Length of the longest outage of a consumer. An outage begins when its connection is lost and ends when a broker knows
 * the consumer again: connections in between that are lost before that do not make two of it. The client's own time of
 * the last loss is that of the last of them, on a clock that may be set. For one thread at a time.
 */
final class Outages {

    private final LongSupplier nanos;
    private boolean isOut;
    private long lostAt;
    private long longestMillis;

    /** Makes one without an outage.
     *
     * @param nanos a clock that nobody sets
     */
    Outages(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /** The connection was lost, or one that the consumer had not used yet. */
    void begin() {
        if (!isOut) {
            isOut = true;
            lostAt = nanos.getAsLong();
        }
    }

    /** A broker knows the consumer. */
    void end() {
        longestMillis = longestMillis();
        isOut = false;
    }

    /** Forgets those that are over. */
    void forget() {
        longestMillis = 0;
    }

    /** Returns the longest one, counting one that goes on; 0 for none. */
    long longestMillis() {
        long current = isOut ? TimeUnit.NANOSECONDS.toMillis(nanos.getAsLong() - lostAt) : 0;
        return Math.max(longestMillis, current);
    }
}

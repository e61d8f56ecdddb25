package org.apache.pulsar.client.impl;

import io.github.pulsarspark.pulsar.feed.PartitionFeed.Bounds;
import io.github.pulsarspark.pulsar.feed.PartitionFeed.Place;

/**
 * Proof that the current session of a consumer misses nothing that was stored after a place. A broker moves a cursor
 * over what is deleted, so a cursor at the place or before it proves that everything after the place is still there.
 * What was published before the connection was lost, and deleted before it returned, would never arrive. For one thread
 * at a time.
 */
final class UnbrokenSession {

    private int session;
    private int proven;
    private Place place;

    /** A session begins after this place; null without one. Returns its number, from 1 on. */
    int begin(Place newest) {
        place = newest;
        return ++session;
    }

    int number() {
        return session;
    }

    /** The consumer waits after this entry from now on, which arrived in that session. */
    void waitAfter(Place arrived, int arrivedIn) {
        place = arrived;
        if (arrivedIn == session) {
            proven = session;
        }
    }

    /** The broker responded with these bounds to a request of that session. */
    void answered(Bounds bounds, int asked) {
        boolean isKnown = bounds.markDeleteLedgerId() >= 0; // old brokers do not name the cursor
        boolean isPassed =
            place == null || place.isBefore(bounds.markDeleteLedgerId(), bounds.markDeleteEntryId());
        if (isKnown && !isPassed && asked == session) {
            proven = session;
        }
    }

    boolean isProven() {
        return session > 0 && proven == session;
    }
}

package io.github.pulsarspark.pulsar.feed;

import java.util.concurrent.CompletableFuture;

/** A consumer of one topic partition at its broker, and where the partition ends. For any thread. */
public interface PartitionFeed {

    /** The place of an entry. */
    record Place(long ledgerId, long entryId) {

        public boolean isBefore(long otherLedgerId, long otherEntryId) {
            return ledgerId < otherLedgerId || ledgerId == otherLedgerId && entryId < otherEntryId;
        }
    }

    /**
     * Last message of the topic and position of this consumer's cursor. {@code last*} is the last message that the
     * broker would deliver (markers and aborted transactions excluded); its entry is -1 if there is none.
     * {@code markDelete*} is the entry before the first one that the cursor can still deliver. The cursor of a consumer
     * that acknowledges nothing is moved by the broker alone (trimming, expiry), and only forward.
     */
    record Bounds(long lastLedgerId, long lastEntryId, long markDeleteLedgerId, long markDeleteEntryId) {

        /** True if the topic has messages after the last one that is named here, since this one has arrived. */
        public boolean isDisprovedBy(Place arrived) {
            return new Place(lastLedgerId, lastEntryId).isBefore(arrived.ledgerId(), arrived.entryId());
        }

        /** Like this value, but with another last message. */
        public Bounds endingAt(Place last) {
            return new Bounds(last.ledgerId(), last.entryId(), markDeleteLedgerId, markDeleteEntryId);
        }
    }

    /** Lets entries arrive; a feed is opened paused. */
    void resume();

    /** The newest entry that has arrived, taken or not; null before the first. */
    Place newest();

    /**
     * Requests the bounds; repeats the request, as long as the client's operation timeout, when the topic moves away
     * from under it. The last message is never before an entry that has arrived in the same session: a broker that
     * finds it while a transaction ends may keep the one before, and report that until the next message is published.
     */
    CompletableFuture<Bounds> bounds();

    /** The number of the current session. */
    int session();

    /** True while a broker knows this consumer, so that entries arrive by themselves. */
    boolean isConnected();

    /**
     * True if in the current session the broker has shown that it had everything after the place where the session
     * began. A feed that connects again proves it again: what was published before the connection was lost, and deleted
     * before it returned, never arrives. False in the first session of a feed that hands out entries: its user sees
     * the bounds.
     */
    boolean isUnbroken();

    /** The longest time without a connection, counting one that is missing now; 0 when none was lost. */
    long longestOutageMillis();

    /** True if this consumer can never deliver or respond again. */
    boolean isGone();

    /** Ends the subscription and releases every entry that was not taken. */
    CompletableFuture<Void> closeAsync();
}

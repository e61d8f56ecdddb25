package io.github.pulsarspark.pulsar.feed;

import io.netty.buffer.ByteBuf;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.PulsarClientException;

/**
 * The entries of one topic partition as its broker dispatches them. {@link #poll} is for one thread, everything else
 * for any.
 */
public interface EntryFeed {

    /**
     * A stored entry. The caller of {@link #poll} releases {@code buffer}. Each time the consumer subscribes, also
     * again on the same connection after an unload, another {@code session} begins, in which the broker knows no
     * earlier permits.
     *
     * @param messages the number of messages that the entry's metadata claims, at least 1
     */
    record Entry(long ledgerId, long entryId, int messages, ByteBuf buffer, int session) { }

    /** The place of an entry. */
    record Place(long ledgerId, long entryId) {

        public boolean isBefore(long otherLedgerId, long otherEntryId) {
            return ledgerId < otherLedgerId || ledgerId == otherLedgerId && entryId < otherEntryId;
        }
    }

    /**
     * Last message of the topic and position of this consumer's cursor. {@code last*} is the last message that the
     * broker would deliver (markers and aborted transactions excluded); its entry is -1 if there is none.
     * {@code markDelete*} is the entry before the first one that the cursor can still deliver. This consumer
     * acknowledges nothing, so only the broker moves the cursor (trimming, expiry), and only forward.
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

    /** The next entry, or null after the time. Fails when the consumer can never deliver again. */
    Entry poll(long time, TimeUnit unit) throws InterruptedException, PulsarClientException;

    /**
     * Calls {@code listener} whenever an entry has arrived that {@link #poll} returns. It runs on a thread of the
     * network, so it must be short and must not wait. A feed has one listener.
     */
    void onArrival(Runnable listener);

    /** Messages that have arrived and were not taken. */
    int queuedMessages();

    /** Bytes of the entries that have arrived and were not taken. */
    long queuedBytes();

    /** The first entry that has arrived, over every session, taken or not; null before the first. */
    Place first();

    /** The newest entry that has arrived, taken or not; null before the first. */
    Place newest();

    /**
     * Waits until the entry {@code until} or a later one has arrived, or {@code messages} messages that were not taken,
     * or the time is over.
     */
    void gather(Place until, int messages, long millis) throws InterruptedException;

    /**
     * Lets the broker send {@code messages} more in the session in which {@code taken} arrived; a newer session has a
     * grant of its own.
     */
    void grant(Entry taken, int messages);

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
     * Waits for the first entry after {@code after}, in a feed that only remembers its place.
     *
     * @return false when {@code after} is not the newest entry that has arrived, or no broker knows this consumer now:
     * the feed then stays as it is
     */
    boolean waitAfter(Place after);

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

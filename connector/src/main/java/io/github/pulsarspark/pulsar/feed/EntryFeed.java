package io.github.pulsarspark.pulsar.feed;

import io.netty.buffer.ByteBuf;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.PulsarClientException;

/**
 * The entries of one topic partition as its broker dispatches them. {@link #poll} is for one thread, everything else
 * for any.
 */
public interface EntryFeed extends PartitionFeed {

    /**
     * A stored entry. The caller of {@link #poll} releases {@code buffer}. Each time the consumer subscribes, also
     * again on the same connection after an unload, another {@code session} begins, in which the broker knows no
     * earlier permits.
     *
     * @param messages the number of messages that the entry's metadata claims, at least 1
     */
    record Entry(long ledgerId, long entryId, int messages, ByteBuf buffer, int session) { }

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
     * Takes memory of the room for what waits and for what arrives until {@link #leaveRoom}, while nobody polls. An
     * entry that finds none ends the subscription.
     *
     * @return false when there is no room for what waits: nothing has changed then
     */
    boolean waitIn(WaitingRoom room);

    /** Gives the memory of the room back: the feed may hold again what one task may. */
    void leaveRoom();
}

package org.apache.pulsar.client.impl;

import io.netty.buffer.ByteBuf;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.PulsarClientException;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.SubscriptionMode;
import org.apache.pulsar.client.api.SubscriptionType;
import org.apache.pulsar.client.impl.conf.ConsumerConfigurationData;
import org.apache.pulsar.common.api.proto.CommandGetLastMessageIdResponse;
import org.apache.pulsar.common.api.proto.CommandMessage;
import org.apache.pulsar.common.api.proto.MessageIdData;
import org.apache.pulsar.common.api.proto.MessageMetadata;
import org.apache.pulsar.common.protocol.Commands;

/**
 * A non-durable consumer that hands out stored entries as the broker sends them, unopened: the one place where the connector relies on inner parts of the
 * Pulsar client, which has no public way to get whole entries. It lives in the client's package because {@code messageReceived} is package-private.
 *
 * <p>Entries come in order and each one once: after every (re)connect the broker sends the entry it was asked to start with again, so positions are compared
 * and repeats dropped. The queue is kept over a reconnect and the broker asked to go on after the last entry received. {@link #poll} is for one thread.
 */
public final class EntryConsumer extends ConsumerImpl<byte[]> {

    /**
     * A stored entry. Whoever takes it from {@link EntryConsumer#poll} releases {@code buffer}. Each time the consumer subscribes, also again on the same
     * connection after an unload, another {@code session} begins, in which the broker knows nothing of what it was granted before.
     */
    public record Entry(long ledgerId, long entryId, int messages, ByteBuf buffer, int session) { }

    /**
     * Where the topic ends and where this consumer's cursor stands. {@code last*} is the last message the broker would deliver (markers and aborted
     * transactions left out), entry -1 if there is none. {@code markDelete*} is the entry before the first one the cursor can still deliver; it moves only
     * when the broker moves it (trimming, expiry), since nothing is ever acknowledged here.
     */
    public record Bounds(long lastLedgerId, long lastEntryId, long markDeleteLedgerId, long markDeleteEntryId) { }

    private static final long RETRY_MILLIS = 50;

    private final Object lock = new Object();
    private final LinkedBlockingQueue<Entry> queue = new LinkedBlockingQueue<>();
    private final Set<CompletableFuture<Bounds>> unanswered = ConcurrentHashMap.newKeySet();
    private final MessageMetadata metadata = new MessageMetadata();
    private long receivedLedgerId = -1;
    private long receivedEntryId = -1;
    private int session;
    private boolean closed;
    private long longestOutageMillis;

    private EntryConsumer(PulsarClientImpl client, String topic, int partition, ConsumerConfigurationData<byte[]> conf,
                          CompletableFuture<Consumer<byte[]>> subscribed, MessageIdImpl start) {
        super(client, topic, conf, client.externalExecutorProvider(), partition, false, false, subscribed, start, 0, Schema.BYTES, null, false);
    }

    /**
     * Subscribes, paused: call {@link #resume()} to let entries come.
     *
     * @param start the first entry wanted; the broker sends it, or the first existing one after it
     * @param permits messages the broker may send ahead at first
     * @param readCompacted true to get what compaction left of the topic
     */
    public static CompletableFuture<EntryConsumer> open(PulsarClientImpl client, String topic, int partition, String subscription, String consumerName,
                                                        int permits, MessageIdImpl start, boolean readCompacted) {
        ConsumerConfigurationData<byte[]> conf = new ConsumerConfigurationData<>();
        conf.getTopicNames().add(topic);
        conf.setSubscriptionName(subscription);
        conf.setConsumerName(consumerName);
        conf.setSubscriptionType(SubscriptionType.Exclusive);
        conf.setSubscriptionMode(SubscriptionMode.NonDurable);
        conf.setReceiverQueueSize(permits);
        conf.setStartPaused(true);
        conf.setReadCompacted(readCompacted);
        conf.setAcknowledgementsGroupTimeMicros(0); // nothing is acknowledged here, and a timer for each of thousands of consumers would keep the client busy
        CompletableFuture<Consumer<byte[]>> subscribed = new CompletableFuture<>();
        EntryConsumer consumer = new EntryConsumer(client, topic, partition, conf, subscribed, start);
        return subscribed.thenApply(ignored -> consumer);
    }

    /**
     * Subscribes to look whether anything comes after {@code start}, and lets one entry come: {@link #firstReceived()}. What it was sent is known over every
     * reconnect.
     */
    public static CompletableFuture<EntryConsumer> watch(PulsarClientImpl client, String topic, int partition, String subscription, MessageIdImpl start) {
        return open(client, topic, partition, subscription, null, 1, start, false).thenApply(consumer -> {
            synchronized (consumer.lock) {
                consumer.receivedLedgerId = start.getLedgerId();
                consumer.receivedEntryId = start.getEntryId();
            }
            consumer.resume();
            return consumer;
        });
    }

    @Override
    void messageReceived(CommandMessage command, ByteBuf buffer, ClientCnx from) {
        MessageIdData id = command.getMessageId();
        synchronized (lock) {
            if (closed || from != cnx()) {
                return; // a late entry of a connection that is gone: it comes again
            }
            int start = buffer.readerIndex();
            int messages = messagesIn(buffer);
            buffer.readerIndex(start);
            if (id.getLedgerId() < receivedLedgerId || id.getLedgerId() == receivedLedgerId && id.getEntryId() <= receivedEntryId) {
                sendPermits(from, messages);
                return;
            }
            receivedLedgerId = id.getLedgerId();
            receivedEntryId = id.getEntryId();
            queue.add(new Entry(receivedLedgerId, receivedEntryId, messages, buffer.retain(), session));
        }
    }

    /** Permits count messages. An entry that cannot be parsed counts as one: the reader will report it. */
    private int messagesIn(ByteBuf buffer) {
        try {
            Commands.skipBrokerEntryMetadataIfExist(buffer);
            Commands.skipChecksumIfPresent(buffer);
            Commands.parseMessageMetadata(buffer, metadata);
            return metadata.getNumMessagesInBatch();
        } catch (RuntimeException corrupt) {
            return 1;
        }
    }

    @Override
    public CompletableFuture<Void> connectionOpened(ClientCnx connection) {
        if (lock != null) { // null while super() runs: the first connection may open before this object is whole
            synchronized (lock) {
                session++;
                if (receivedLedgerId >= 0) {
                    longestOutageMillis = Math.max(longestOutageMillis, System.currentTimeMillis() - getLastDisconnectedTimestamp());
                    lastDequeuedMessageId = new MessageIdImpl(receivedLedgerId, receivedEntryId, -1);
                }
            }
        }
        CompletableFuture<Void> subscribed = super.connectionOpened(connection);
        subscribed.thenRun(this::askAgain);
        return subscribed;
    }

    /** A broker that let go of the topic while it was asked may never answer, as when it could not recover the topic's transactions. */
    private void askAgain() {
        Set<CompletableFuture<Bounds>> earlier = unanswered; // null while super() runs
        if (earlier != null) {
            earlier.forEach(request -> request.completeExceptionally(new PulsarClientException("The broker let go of " + topic + " before it answered.")));
        }
    }

    /** True when this consumer can never deliver or answer again. */
    public boolean isGone() {
        return getState() == State.Failed || getState() == State.Closed || getState() == State.Closing;
    }

    /** The next entry, or null after the time. Fails when the consumer can never deliver again. */
    public Entry poll(long time, TimeUnit unit) throws InterruptedException, PulsarClientException {
        Entry entry = queue.poll(time, unit);
        if (entry == null && isGone()) {
            throw new PulsarClientException.AlreadyClosedException("The broker closed the consumer of " + topic + ".");
        }
        return entry;
    }

    /** The first entry that came and was not taken, which stays where it is; null when there is none. */
    public Entry firstReceived() {
        return queue.peek();
    }

    /** The longest time it took to come back after a lost connection or an unload. */
    public long longestOutageMillis() {
        synchronized (lock) {
            return longestOutageMillis;
        }
    }

    /** Lets the broker send {@code messages} more in the session that {@code taken} came in; a newer one has had its own grant. */
    public void grant(Entry taken, int messages) {
        synchronized (lock) {
            if (taken.session() == session) {
                sendPermits(cnx(), messages);
            }
        }
    }

    /** At once: the client's own method keeps permits back until they are half a queue, which may be more than a reader of large messages ever grants. */
    private void sendPermits(ClientCnx to, int messages) {
        if (to != null) {
            to.ctx().writeAndFlush(Commands.newFlow(consumerId, messages), to.ctx().voidPromise());
        }
    }

    /** Asks the broker; asks again, as long as the client's operation timeout, when the topic moves away from under the request. */
    public CompletableFuture<Bounds> bounds() {
        return bounds(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(client.getConfiguration().getOperationTimeoutMs()));
    }

    private CompletableFuture<Bounds> bounds(long deadline) {
        return ask().handle((answer, failure) -> {
            if (failure == null) {
                return CompletableFuture.completedFuture(answer);
            }
            if (isGone() || !isPassing(failure) || System.nanoTime() > deadline) {
                return CompletableFuture.<Bounds>failedFuture(failure);
            }
            Executor later = CompletableFuture.delayedExecutor(RETRY_MILLIS, TimeUnit.MILLISECONDS);
            return CompletableFuture.supplyAsync(() -> bounds(deadline), later).thenCompose(Function.identity());
        }).thenCompose(Function.identity());
    }

    /** True for what an unload or a lost connection does to a request: the broker says that it does not know the consumer, or says nothing more. */
    private static boolean isPassing(Throwable failure) {
        Throwable cause = failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return cause instanceof PulsarClientException.BrokerMetadataException
            || cause instanceof PulsarClientException.ConnectException
            || cause.getClass() == PulsarClientException.class;
    }

    private CompletableFuture<Bounds> ask() {
        ClientCnx connection = cnx();
        if (!isConnected() || connection == null) {
            // the client's own method waits for the connection
            return getLastMessageIdsAsync().thenCompose(ignored -> ask());
        }
        long requestId = client.newRequestId();
        CompletableFuture<Bounds> request = new CompletableFuture<>();
        unanswered.add(request); // before it is sent: askAgain() has to find it
        connection.sendGetLastMessageId(Commands.newGetLastMessageId(consumerId, requestId), requestId).whenComplete((answer, failure) -> {
            if (failure != null) {
                request.completeExceptionally(failure);
            } else {
                request.complete(toBounds(answer));
            }
        });
        return request.whenComplete((answer, failure) -> unanswered.remove(request));
    }

    private static Bounds toBounds(CommandGetLastMessageIdResponse answer) {
        MessageIdData last = answer.getLastMessageId();
        boolean marked = answer.hasConsumerMarkDeletePosition();
        return new Bounds(last.getLedgerId(), last.getEntryId(),
            marked ? answer.getConsumerMarkDeletePosition().getLedgerId() : -1,
            marked ? answer.getConsumerMarkDeletePosition().getEntryId() : -1);
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        synchronized (lock) {
            closed = true;
            for (Entry entry = queue.poll(); entry != null; entry = queue.poll()) {
                entry.buffer().release();
            }
        }
        return super.closeAsync();
    }
}

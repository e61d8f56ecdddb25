package org.apache.pulsar.client.impl;

import io.github.pulsarspark.common.BoundedActions;
import io.github.pulsarspark.pulsar.feed.EntryFeed;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.pulsar.client.api.Consumer;
import org.apache.pulsar.client.api.PulsarClientException;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.impl.conf.ConsumerConfigurationData;
import org.apache.pulsar.common.api.proto.CommandMessage;
import org.apache.pulsar.common.api.proto.MessageIdData;
import org.apache.pulsar.common.protocol.Commands;

/**
 * A non-durable consumer that hands out stored entries as the broker sends them, unopened: the one place where the
 * connector relies on inner parts of the Pulsar client, which has no public way to get whole entries. It lives in the
 * client's package because {@code messageReceived} and {@code grabCnx} are package-private.
 *
 * <p>Entries arrive in order and each one once: after every (re)connect the broker sends the entry it was asked to
 * start with again, so positions are compared and repeats dropped. The queue is kept over a reconnect and the broker
 * asked to go on after the newest entry received.
 *
 * <p>Permits count messages and cannot be taken back, so messages that suddenly are much larger may be more than memory
 * can hold. An entry that finds no room is dropped and ends the subscription: what waits can still be taken, then the
 * consumer is gone, and its user opens another one there.
 *
 * <p>The superclass connects at the end of its constructor, when no field of this class has a value. So
 * {@code grabCnx} does nothing then, and {@code open} connects once the object is whole: no other thread ever sees it
 * before.
 */
public class EntryConsumer extends ConsumerImpl<byte[]> implements EntryFeed {

    private final Object lock = new Object();
    private final BoundsRequests boundsRequests = new BoundsRequests(this);
    private final EntryQueue queue;
    private final boolean positionsOnly;
    private final BoundedActions resubscriptions;
    private final WithheldPermits withheld = new WithheldPermits();
    private boolean whole;
    private Place first; // of those received
    private Place newest; // or the one after which positions are requested
    private int newestSession; // in which it arrived
    private final UnbrokenSession session = new UnbrokenSession();
    private boolean closed;
    private boolean overflowed;
    private CompletableFuture<Void> subscribing = CompletableFuture.completedFuture(null);
    private boolean gathering;
    private Runnable listener; // null for none
    private long longestOutageMillis;

    EntryConsumer(
        PulsarClientImpl client,
        EntryRequest request,
        ConsumerConfigurationData<byte[]> conf,
        CompletableFuture<Consumer<byte[]>> subscribed) {
        super(client, request.topic(), conf, client.externalExecutorProvider(), request.partition(), false, false,
            subscribed, request.start(), 0, Schema.BYTES, null, false);
        queue = new EntryQueue(request.mostBytes());
        positionsOnly = request.positionsOnly();
        resubscriptions = request.resubscriptions();
        newest = positionsOnly ? new Place(request.start().getLedgerId(), request.start().getEntryId()) : null;
    }

    /** Subscribes, paused: call {@link #resume()} to let entries arrive. */
    public static CompletableFuture<EntryConsumer> open(PulsarClientImpl client, EntryRequest request) {
        CompletableFuture<Consumer<byte[]>> subscribed = new CompletableFuture<>();
        EntryConsumer consumer = new EntryConsumer(client, request, request.configuration(), subscribed);
        consumer.connect();
        return subscribed.thenApply(ignored -> consumer);
    }

    void connect() {
        whole = true; // handed to the network's threads with the task that connects
        super.grabCnx();
    }

    /** The superclass's constructor calls this, which is too early; see {@link #connect}. */
    @Override
    void grabCnx() {
        if (whole) {
            super.grabCnx();
        }
    }

    @Override
    void messageReceived(CommandMessage command, ByteBuf buffer, ClientCnx from) {
        MessageIdData id = command.getMessageId();
        synchronized (lock) {
            if (closed || overflowed || from != cnx()) {
                return; // a late entry of a lost connection: it arrives again
            }
            int messages = queue.messagesIn(buffer);
            if (newest != null && !newest.isBefore(id.getLedgerId(), id.getEntryId())) {
                if (!positionsOnly || first == null) {
                    sendPermits(from, messages);
                } else {
                    withheld.add(messages);
                }
                return;
            }
            if (!positionsOnly && !queue.hasRoomFor(buffer.readableBytes())) {
                overflowed = true;
                super.closeAsync(); // the subscription alone: what waits is taken first
                return;
            }
            newest = new Place(id.getLedgerId(), id.getEntryId());
            newestSession = session.number();
            if (first == null) {
                first = newest;
            }
            if (positionsOnly) {
                withheld.add(messages, buffer.readableBytes());
            } else {
                queue.add(new Entry(newest.ledgerId(), newest.entryId(), messages, buffer.retain(), newestSession));
                if (gathering) {
                    lock.notifyAll();
                }
                if (listener != null) {
                    listener.run();
                }
            }
        }
    }

    @Override
    public CompletableFuture<Void> connectionOpened(ClientCnx connection) {
        return resubscriptions == null || session() == 0
            ? subscribe(connection)
            : resubscriptions.run(() -> subscribe(connection));
    }

    private CompletableFuture<Void> subscribe(ClientCnx connection) {
        int current;
        CompletableFuture<Void> answered = new CompletableFuture<>();
        synchronized (lock) {
            if (closed) {
                return CompletableFuture.completedFuture(null);
            }
            subscribing = answered;
            current = session.begin(newest);
            withheld.restart();
            longestOutageMillis = Math.max(longestOutageMillis, millisDisconnected());
            if (newest != null) {
                lastDequeuedMessageId = new MessageIdImpl(newest.ledgerId(), newest.entryId(), -1);
            }
        }
        CompletableFuture<Void> subscribed = super.connectionOpened(connection);
        subscribed.whenComplete((ignored, failure) -> answered.complete(null));
        subscribed.thenRun(() -> {
            boundsRequests.failBefore(current);
            boolean isWatch = resubscriptions != null;
            if (isWatch || current > 1 && !positionsOnly) {
                boundsRequests.send(); // the response may prove that the session is unbroken
            }
        });
        return subscribed;
    }

    void answered(Bounds bounds, int asked) {
        synchronized (lock) {
            session.answered(bounds, asked);
        }
    }

    @Override
    public boolean isUnbroken() {
        synchronized (lock) {
            return session.isProven();
        }
    }

    @Override
    public boolean waitAfter(Place after) {
        synchronized (lock) {
            if (closed || !isConnected() || !after.equals(newest)) {
                return false;
            }
            first = null;
            session.waitAfter(after, newestSession);
            longestOutageMillis = 0; // whatever arrived during an outage is up to the newest entry
            returnPermits();
            return true;
        }
    }

    /** Returns the milliseconds since the last connection was lost; 0 if none was. */
    private long millisDisconnected() {
        long since = getLastDisconnectedTimestamp();
        return since == 0 ? 0 : System.currentTimeMillis() - since;
    }

    @Override
    public boolean isGone() {
        return getState() == State.Failed || getState() == State.Closed || getState() == State.Closing;
    }

    @Override
    public Entry poll(long time, TimeUnit unit) throws InterruptedException, PulsarClientException {
        Entry entry = queue.poll(isGone() ? 0 : time, unit); // nothing arrives any more
        if (entry == null && isGone()) {
            throw new PulsarClientException.AlreadyClosedException("The broker closed the consumer of " + topic + ".");
        }
        return entry;
    }

    @Override
    public void onArrival(Runnable called) {
        synchronized (lock) {
            listener = called;
        }
    }

    @Override
    public int queuedMessages() {
        return queue.messages();
    }

    @Override
    public long queuedBytes() {
        return queue.bytes();
    }

    @Override
    public Place first() {
        synchronized (lock) {
            return first;
        }
    }

    @Override
    public Place newest() {
        synchronized (lock) {
            return newest;
        }
    }

    /** The newest entry that has arrived in this session; null before the first. */
    Place newestOf(int asked) {
        synchronized (lock) {
            return newestSession == asked ? newest : null;
        }
    }

    /**
     * The newest entry that has arrived. The broker does not name the last one, so a feed that only remembers positions
     * lets more arrive to find it.
     */
    Place newestAndMore() {
        synchronized (lock) {
            if (positionsOnly) {
                sendPermits(cnx(), withheld.takeMore());
            }
            return newest;
        }
    }

    @Override
    public void gather(Place until, int messages, long millis) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        synchronized (lock) {
            gathering = true;
            try {
                long left = millis;
                while (left > 0 && queue.messages() < messages
                    && (newest == null || newest.isBefore(until.ledgerId(), until.entryId()))) {
                    lock.wait(left);
                    left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                }
            } finally {
                gathering = false;
            }
        }
    }

    @Override
    public int session() {
        synchronized (lock) {
            return session.number();
        }
    }

    @Override
    public long longestOutageMillis() {
        synchronized (lock) {
            return isConnected() ? longestOutageMillis : Math.max(longestOutageMillis, millisDisconnected());
        }
    }

    @Override
    public void grant(Entry taken, int messages) {
        synchronized (lock) {
            if (taken.session() == session.number()) {
                sendPermits(cnx(), messages);
            }
        }
    }

    /** Returns the permits that dropped entries used. */
    void returnPermits() {
        synchronized (lock) {
            sendPermits(cnx(), withheld.takeAll());
        }
    }

    /**
     * Sends permits without delay. The client's own method holds permits back until they are half a queue, which may be
     * more than a reader of large messages ever grants.
     */
    private void sendPermits(ClientCnx to, int messages) {
        if (to != null && messages > 0) {
            to.ctx().writeAndFlush(Commands.newFlow(consumerId, messages), to.ctx().voidPromise());
        }
    }

    @Override
    public CompletableFuture<Bounds> bounds() {
        return boundsRequests.send();
    }

    /**
     * Waits for a pending subscribe, at most the operation timeout: if the response reaches a closed consumer, the
     * client closes the connection, which others share.
     */
    @Override
    public CompletableFuture<Void> closeAsync() {
        CompletableFuture<Void> underWay;
        synchronized (lock) {
            closed = true;
            queue.releaseAll();
            underWay = subscribing;
        }
        if (underWay.isDone()) {
            return super.closeAsync();
        }
        return underWay.copy()
            .completeOnTimeout(null, client.getConfiguration().getOperationTimeoutMs(), TimeUnit.MILLISECONDS)
            .thenCompose(ignored -> super.closeAsync());
    }
}

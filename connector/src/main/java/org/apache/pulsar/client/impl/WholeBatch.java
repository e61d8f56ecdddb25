package org.apache.pulsar.client.impl;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.apache.pulsar.client.api.MessageId;
import org.apache.pulsar.common.api.proto.MessageMetadata;
import org.apache.pulsar.common.api.proto.SingleMessageMetadata;
import org.apache.pulsar.common.protocol.Commands;

/**
 * A batch that the connector built, as the client's one message: the client queues, sends, repeats and acknowledges it
 * as a whole. It lives in the client's package because messages have no public constructor for a buffer of their own.
 */
public final class WholeBatch extends MessageImpl<byte[]> implements SendCallback {

    private final ByteBuf buffer;
    private final int messages;
    private final long lowestSequenceId;
    private final CompletableFuture<MessageId> acknowledged = new CompletableFuture<>();

    private WholeBatch(ProducerImpl<byte[]> producer, ByteBuf buffer, int messages, long lowestSequenceId) {
        super(producer.getTopic(), (MessageIdImpl) null, new MessageMetadata(), Unpooled.EMPTY_BUFFER, (ClientCnx) null,
            producer.schema);
        this.buffer = buffer;
        this.messages = messages;
        this.lowestSequenceId = lowestSequenceId;
        getMessageBuilder().setSequenceId(lowestSequenceId);
    }

    /**
     * Sends a batch. Waits while the queue of the producer or the client's memory is full. The producer is one of
     * {@link WholeBatchContainer}.
     *
     * @param buffer the messages, each as its metadata and its payload; this method releases it, however it ends
     * @param messages at least 1; a batch of one message is sent as a single message
     * @param lowestSequenceId of the first message; the others have the following ones
     * @param stamp adds to the metadata of the batch, and may wait; null for nothing
     */
    public static CompletableFuture<MessageId> send(
        ProducerImpl<byte[]> producer, ByteBuf buffer, int messages, long lowestSequenceId,
        Consumer<MessageMetadata> stamp)
        throws InterruptedException {
        WholeBatch batch = new WholeBatch(producer, buffer, messages, lowestSequenceId);
        try {
            batch.describeFirst();
            if (stamp != null) {
                stamp.accept(batch.getMessageBuilder());
            }
            Semaphore permits = producer.getSemaphore().orElse(null);
            if (permits != null && messages > 1) {
                permits.acquire(messages - 1); // the client itself acquires one for each call
            }
        } catch (Throwable e) {
            buffer.release();
            throw e;
        }
        producer.sendAsync(batch, batch);
        return batch.acknowledged;
    }

    /** Follows the highest one of this producer, and of those of its name before where the broker remembers it. */
    public static long nextSequenceId(ProducerImpl<byte[]> producer) {
        return Math.max(producer.getLastSequenceId(), producer.lastSequenceIdPushed) + 1;
    }

    /** A batch has the keys of its first message, as those that the client builds; a single message has everything. */
    private void describeFirst() {
        SingleMessageMetadata first = new SingleMessageMetadata();
        payloadOfFirst(first);
        MessageMetadata metadata = getMessageBuilder();
        if (first.hasPartitionKey()) {
            metadata.setPartitionKey(first.getPartitionKey());
            metadata.setPartitionKeyB64Encoded(first.isPartitionKeyB64Encoded());
        }
        if (first.hasOrderingKey()) {
            metadata.setOrderingKey(first.getOrderingKey());
        }
        if (messages == 1) {
            first.getPropertiesList().forEach(one ->
                metadata.addProperty().setKey(one.getKey()).setValue(one.getValue()));
            if (first.hasEventTime()) {
                metadata.setEventTime(first.getEventTime());
            }
            if (first.hasNullValue()) {
                metadata.setNullValue(first.isNullValue());
            }
        }
    }

    /** A part of the buffer, not retained. */
    private ByteBuf payloadOfFirst(SingleMessageMetadata first) {
        ByteBuf rest = buffer.slice();
        int size = (int) rest.readUnsignedInt();
        first.parseFrom(rest, size);
        return rest.readSlice(first.getPayloadSize());
    }

    /** Returns the uncompressed payload to send, retained. */
    ByteBuf body() {
        return (messages == 1 ? payloadOfFirst(new SingleMessageMetadata()) : buffer).retain();
    }

    int messages() {
        return messages;
    }

    long lowestSequenceId() {
        return lowestSequenceId;
    }

    long highestSequenceId() {
        return lowestSequenceId + messages - 1;
    }

    /** Returns the bytes of its memory that the client reserved when it accepted the batch. */
    int reserved() {
        return buffer.writerIndex();
    }

    @Override
    public ByteBuf getDataBuffer() {
        return buffer;
    }

    @Override
    public void sendComplete(Throwable failure, OpSendMsgStats stats) {
        if (failure != null) {
            acknowledged.completeExceptionally(failure);
        } else {
            acknowledged.complete(getMessageId());
        }
    }

    @Override
    public CompletableFuture<MessageId> getFuture() {
        return acknowledged;
    }

    @Override
    public void addCallback(MessageImpl<?> message, SendCallback callback) {
        throw new UnsupportedOperationException("a whole batch takes no further message");
    }

    @Override
    public SendCallback getNextSendCallback() {
        return null;
    }

    @Override
    public MessageImpl<?> getNextMessage() {
        return null;
    }
}

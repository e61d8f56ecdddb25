package org.apache.pulsar.client.impl;

import io.github.pulsarspark.pulsar.producer.NativeLz4;
import io.netty.buffer.ByteBuf;
import java.util.List;
import org.apache.pulsar.client.api.BatchMessageContainer;
import org.apache.pulsar.client.api.BatcherBuilder;
import org.apache.pulsar.client.api.CompressionType;
import org.apache.pulsar.client.api.PulsarClientException;
import org.apache.pulsar.client.impl.ProducerImpl.OpSendMsg;
import org.apache.pulsar.common.api.proto.MessageMetadata;
import org.apache.pulsar.common.protocol.ByteBufPair;
import org.apache.pulsar.common.protocol.Commands;

/**
 * Takes the place of the container in which the client gathers the messages of a batch: each {@link WholeBatch} that
 * arrives is full. Compresses, encrypts and numbers it as the client's own container does. The producer holds its lock
 * whenever it calls a method.
 */
public final class WholeBatchContainer extends AbstractBatchMessageContainer {

    /** Builds containers for producers that send only {@link WholeBatch}. */
    public static final BatcherBuilder BUILDER = new BatcherBuilder() {
        @Override
        public BatchMessageContainer build() {
            return new WholeBatchContainer();
        }
    };

    private WholeBatch batch;
    private SendCallback callback;

    @Override
    public boolean add(MessageImpl<?> message, SendCallback callback) {
        batch = (WholeBatch) message;
        this.callback = callback;
        numMessagesInBatch = batch.messages();
        ProducerImpl.LAST_SEQ_ID_PUSHED_UPDATER.getAndUpdate(
            producer, last -> Math.max(last, batch.highestSequenceId()));
        return true;
    }

    @Override
    public OpSendMsg createOpSendMsg() {
        ByteBuf body = batch.body();
        try {
            MessageMetadata metadata = batch.getMessageBuilder();
            body = compressed(metadata, body);
            boolean isSingle = batch.messages() == 1;
            if (!isSingle) {
                metadata.setNumMessagesInBatch(batch.messages()).setHighestSequenceId(batch.highestSequenceId());
            }
            body = producer.encryptMessage(metadata, body);
            if (!isSingle) {
                check(body.readableBytes(), getMaxMessageSize());
            }
            ByteBufPair command = isSingle
                ? producer.sendMessage(producer.producerId, batch.lowestSequenceId(), 1, null, metadata, body)
                : producer.sendMessage(producer.producerId, batch.lowestSequenceId(), batch.highestSequenceId(),
                    batch.messages(), metadata, body);
            body = null; // it belongs to the command now
            return checked(operation(command, isSingle), isSingle);
        } catch (Throwable e) { // an Error too: the client would log it and leave the batch without a response
            if (body != null) {
                body.release();
            }
            fail(e instanceof Exception exception ? exception : new PulsarClientException(e));
            return null;
        }
    }

    /** The client states the size of every single message, and of a batch only where it is compressed. */
    private ByteBuf compressed(MessageMetadata metadata, ByteBuf body) {
        int size = body.readableBytes();
        boolean isCompressed = producer.conf.getCompressionType() != CompressionType.NONE
            && size > producer.conf.getCompressMinMsgBodySize();
        metadata.clearUncompressedSize(); // the client set that of the buffer
        if (isCompressed || batch.messages() == 1) {
            metadata.setUncompressedSize(size);
        }
        if (!isCompressed) {
            return body;
        }
        metadata.setCompression(compressionType);
        if (producer.conf.getCompressionType() != CompressionType.LZ4) {
            return producer.applyCompression(body);
        }
        ByteBuf packed = NativeLz4.encode(body);
        body.release();
        return packed;
    }

    /**
     * Properties, keys and the like count too: a single message has the limit of the client, a batch that of the frames
     * that a broker accepts. A broker closes the connection of all producers for a larger one.
     */
    private OpSendMsg checked(OpSendMsg operation, boolean isSingle) throws PulsarClientException {
        int limit = getMaxMessageSize() + (isSingle ? 0 : Commands.MESSAGE_SIZE_FRAME_PADDING);
        try {
            check(operation.getMessageHeaderAndPayloadSize(), limit);
            return operation;
        } catch (PulsarClientException e) {
            operation.cmd.release();
            throw e;
        }
    }

    private void check(int size, int limit) throws PulsarClientException {
        if (size > limit) {
            throw new PulsarClientException.InvalidMessageException(String.format(
                "The producer %s of the topic %s sends a message with %d bytes that exceeds %d bytes",
                producer.getProducerName(), topicName, size, limit));
        }
    }

    @SuppressWarnings("unchecked")
    private OpSendMsg operation(ByteBufPair command, boolean isSingle) {
        List<MessageImpl<?>> messages = List.of(batch);
        OpSendMsg operation = isSingle
            ? OpSendMsg.create(producer.rpcLatencyHistogram, messages, command, batch.lowestSequenceId(), callback,
                batch.reserved())
            : OpSendMsg.create(producer.rpcLatencyHistogram, messages, command, batch.lowestSequenceId(),
                batch.highestSequenceId(), callback, batch.reserved());
        operation.setNumMessagesInBatch(batch.messages());
        operation.setBatchSizeByte(batch.reserved());
        return operation;
    }

    /** Releases the permits and the memory that the client acquired for the batch. */
    private void fail(Exception failure) {
        producer.semaphoreRelease(batch.messages());
        producer.client.getMemoryLimitController().releaseMemory(batch.reserved());
        discard(failure);
    }

    @Override
    public void discard(Exception failure) {
        SendCallback of = callback;
        clear();
        if (of != null) {
            of.sendComplete(failure, null);
        }
    }

    @Override
    public void clear() {
        batch = null;
        callback = null;
        numMessagesInBatch = 0;
    }

    @Override
    public boolean isEmpty() {
        return batch == null;
    }

    @Override
    public boolean isMultiBatches() {
        return false;
    }

    /** A whole batch has room for itself. */
    @Override
    public boolean haveEnoughSpace(MessageImpl<?> message) {
        return true;
    }

    @Override
    public boolean hasSameSchema(MessageImpl<?> message) {
        return true;
    }

    @Override
    public boolean hasSameTxn(MessageImpl<?> message) {
        return true;
    }

    /** Clears the container. Nothing is kept: a batch that cannot be built fails. */
    @Override
    public void resetPayloadAfterFailedPublishing() {
        clear();
    }
}

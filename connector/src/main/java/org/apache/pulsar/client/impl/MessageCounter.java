package org.apache.pulsar.client.impl;

import io.netty.buffer.ByteBuf;
import org.apache.pulsar.common.api.proto.MessageMetadata;
import org.apache.pulsar.common.protocol.Commands;

/** Counts the messages of stored entries, which is what permits count. For one thread at a time. */
final class MessageCounter {

    private final MessageMetadata metadata = new MessageMetadata();

    /** The number that the entry claims. An entry that cannot be parsed counts as one: the reader will report it. */
    int messagesIn(ByteBuf entry) {
        int start = entry.readerIndex();
        try {
            Commands.skipBrokerEntryMetadataIfExist(entry);
            Commands.skipChecksumIfPresent(entry);
            Commands.parseMessageMetadata(entry, metadata);
            return Math.max(1, metadata.getNumMessagesInBatch());
        } catch (RuntimeException corrupt) {
            return 1;
        } finally {
            entry.readerIndex(start);
        }
    }
}

package io.github.pulsarspark.read.plan

import io.github.pulsarspark.format.{DecodeDepth, EntryDecoder, PayloadDecryptor, TransactionView}
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.pulsar.broker.{BrokerApi, BrokerPrecedingEntries}
import io.github.pulsarspark.pulsar.crypto.MessageDecryptor

/** Makes decoders that find the messages which tasks return, for a driver that counts them. */
private[read] object CountingDecoder {

  /** @param broker
    *   for entries before a range
    */
  def apply(
      topic: String,
      options: ReadOptions,
      transactions: TransactionView,
      broker: => BrokerApi
  ): EntryDecoder = new EntryDecoder(
    topic,
    if (options.readCompacted) DecodeDepth.Message else DecodeDepth.Entry, // as tasks do
    options.maxMessageBytes,
    ownBytes = false,
    Some(new BrokerPrecedingEntries(topic, options, broker)),
    options.privateKeys.fold(PayloadDecryptor.NoKeys)(new MessageDecryptor(topic, _)),
    transactions
  )
}

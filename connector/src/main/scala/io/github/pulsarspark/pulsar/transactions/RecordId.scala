package io.github.pulsarspark.pulsar.transactions

import org.apache.pulsar.client.api.{MessageId, MessageIdAdv}
import org.apache.pulsar.client.impl.MessageIdImpl

/** Ids of records in control topics, as text: `ledger:entry`. */
private[transactions] object RecordId {
  def text(id: MessageId): String = id match {
    case adv: MessageIdAdv => s"${adv.getLedgerId}:${adv.getEntryId}"
    case other             => other.toString
  }

  def parsed(id: String): MessageId =
    new MessageIdImpl(id.takeWhile(_ != ':').toLong, id.dropWhile(_ != ':').drop(1).toLong, -1)
}

package io.github.pulsarspark.format

import org.apache.pulsar.common.api.proto.CompressionType
import org.scalacheck.{Arbitrary, Gen}

/** Random messages and entries that a producer could send. */
object SentGenerators {
  private val bytes: Gen[Seq[Byte]] = Gen.choose(0, 40).flatMap(n => Gen.listOfN(n, Arbitrary.arbitrary[Byte]))

  /** Texts with characters outside the basic plane, too; no lone surrogates, which have no UTF-8. */
  private val text: Gen[String] =
    Gen.listOf(Gen.oneOf(Gen.alphaNumChar.map(_.toString), Gen.oneOf("", "ä", "漢", "\u0000", "😀", "\n"))).map(
      _.take(12).mkString
    )

  private val key: Gen[Sent.Key] =
    Gen.oneOf(text.map(Sent.Text(_)), bytes.map(Sent.Bytes(_)), Gen.option(text).map(Sent.Null(_)))
  private val time: Gen[Long] = Gen.oneOf(Gen.choose(0L, 4000000000000L), Gen.oneOf(0L, 1L, Long.MaxValue))

  val sent: Gen[Sent] = for {
    value       <- Gen.option(bytes)
    key         <- Gen.option(key)
    properties  <- Gen.choose(0, 6).flatMap(Gen.listOfN(_, Gen.zip(text, text)))
    eventTime   <- Gen.option(time)
    sequenceId  <- Gen.option(time)
    orderingKey <- Gen.frequency(4 -> Gen.const(None), 1 -> bytes.map(Some(_)))
  } yield Sent(value, key, properties, eventTime, sequenceId, orderingKey, isCompactedOut = false)

  private val perhapsCompactedOut: Gen[Sent] =
    Gen.frequency(9 -> sent, 1 -> Gen.const(Sent(Some(Nil), None, Nil, None, None, None, isCompactedOut = true)))

  /** Batch of `size` messages, or one message without a batch when it is 0. */
  def entry(size: Int, compression: CompressionType): Gen[StoredEntry] = for {
    messages    <- if (size == 0) Gen.listOfN(1, sent) else Gen.listOfN(size, perhapsCompactedOut)
    checksum    <- Gen.frequency(4 -> Gen.const(true), 1 -> Gen.const(false))
    brokerTime  <- Gen.option(time)
    brokerIndex <- Gen.option(Gen.choose(1000L, 1L << 40))
    schema      <- Gen.option(bytes)
    replicated  <- Gen.option(text)
    deliverAt   <- Gen.option(time)
    inBatch     <-
      Gen.option(Gen.zip(text, time, Gen.oneOf(true, false), Gen.oneOf(true, false))).map(_.filter(_ => size > 0))
  } yield StoredEntry(
    messages,
    size > 0,
    compression,
    checksum,
    brokerTime,
    brokerIndex,
    metadata => {
      schema.foreach(v => metadata.setSchemaVersion(v.toArray))
      replicated.foreach(cluster => metadata.setReplicatedFrom(cluster))
      deliverAt.foreach(t => metadata.setDeliverAtTime(t))
      // producers describe a batch by its first message: some of it holds for the others, its keys do not
      inBatch.foreach { case (key, eventTime, nullValue, nullKey) =>
        metadata.setPartitionKey(
          key
        ).setOrderingKey(key.getBytes("UTF-8")).setEventTime(eventTime).setNullValue(nullValue).setNullPartitionKey(
          nullKey
        )
      }
    }
  )

  val compression: Gen[CompressionType] = Gen.oneOf(CompressionType.values.toSeq)

  /** Entries of up to seven messages, in a batch or not. */
  val smallEntry: Gen[StoredEntry] = Gen.zip(Gen.oneOf(0, 1, 2, 7), compression).flatMap { case (size, c) =>
    entry(size, c)
  }
}

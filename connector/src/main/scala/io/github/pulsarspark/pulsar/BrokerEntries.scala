package io.github.pulsarspark.pulsar

import io.github.pulsarspark.format.RangeGuard
import io.github.pulsarspark.format.entry.EntrySource
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.pulsar.broker.{BrokerEntrySource, GrowingEntrySource, KeptReaders}
import io.github.pulsarspark.pulsar.tail.{KeptTails, TailEntrySource}

/** Entries of topic partitions as brokers dispatch them, by readers that the tasks of a stream leave to later ones.
  * Each source holds a client of the JVM's pool until it is closed.
  */
private[pulsarspark] object BrokerEntries {

  /** The entries of a range.
    *
    * @param guard
    *   counts the entries that are rejected
    * @param stream
    *   the run of a stream, whose tasks leave their readers to those of the next micro-batch
    */
  def entries(range: OffsetRange, options: ReadOptions, guard: RangeGuard, stream: Option[String]): EntrySource =
    stream
      .filterNot(_ => options.readCompacted) // a compacted view is trusted within one session alone
      .fold[EntrySource](BrokerEntrySource(range, options, guard))(KeptReaders.entries(range, options, guard, _))

  /** The entries of a topic partition as they arrive, from the tail that an earlier task left there, if there is one.
    *
    * @param range
    *   has no end
    * @param stream
    *   the run of a stream
    */
  def tail(range: OffsetRange, options: ReadOptions, stream: String): TailEntrySource =
    KeptTails.tail(range, options, stream)

  /** The tail that an earlier task left at the start of the range. Its user closes it or leaves it. */
  def keptTail(range: OffsetRange, stream: String): Option[TailEntrySource] = KeptTails.take(range, stream)

  /** Leaves a tail to the next task of the stream.
    *
    * @param position
    *   the last message read
    */
  def leave(stream: String, topic: String, position: Position, tail: TailEntrySource): Unit =
    KeptTails.leave(stream, topic, position, tail)

  /** Closes what tasks of a stream in this JVM left to others. */
  def ended(stream: String): Unit =
    try KeptReaders.closeAll(stream)
    finally KeptTails.closeAll(stream)

  /** Like `entries`, but for the driver, which extends the range later. */
  def growingEntries(range: OffsetRange, options: ReadOptions): GrowingEntrySource =
    BrokerEntrySource(range, options, new RangeGuard(range), "driver")
}

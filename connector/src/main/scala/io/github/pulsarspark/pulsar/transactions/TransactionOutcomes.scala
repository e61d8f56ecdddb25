package io.github.pulsarspark.pulsar.transactions

import scala.concurrent.duration._

import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.position.Position

/** A transaction buffer that was complete.
  *
  * @param since
  *   when the broker began to build it
  * @param maxRead
  *   all transactions up to there are decided
  */
private[pulsar] final case class BufferState(since: Long, nothingAborted: Boolean, maxRead: Option[Position])

/** Outcomes of a topic partition's transactions, shared by the readers of this JVM. All of them are decided, so they
  * never change. For many threads.
  */
private[pulsar] final class TransactionOutcomes(nanos: () => Long = () => System.nanoTime()) {
  import TransactionOutcomes._

  private val known    = new Newest[(Long, Long), java.lang.Boolean](MaxTransactions)
  private var since    = 0L // start of the count
  private var requests = 0

  /** Last state of the transaction buffer that the broker reported. */
  @volatile var state: Option[BufferState] = None

  /** Returns whether a transaction was aborted; None if unknown. */
  def get(mostBits: Long, leastBits: Long): Option[Boolean] =
    known.synchronized(Option(known.get((mostBits, leastBits)))).map(_.booleanValue)

  def put(mostBits: Long, leastBits: Long, isAborted: Boolean): Unit = known.synchronized {
    known.put((mostBits, leastBits), isAborted)
    ()
  }

  /** Counts a request; false when there were `most` in the last minutes. */
  def mayAsk(most: Int): Boolean = synchronized {
    if (requests == 0 || nanos() - since >= CountInterval.toNanos) {
      since = nanos()
      requests = 0
    }
    requests += 1
    requests <= most
  }
}

private[pulsar] object TransactionOutcomes {
  private val CountInterval   = 5.minutes
  private val MaxPartitions   = 64
  private val MaxTransactions = 20000

  private val all = new Newest[(ClientOptions, String), TransactionOutcomes](MaxPartitions)

  def of(options: ClientOptions, partition: String): TransactionOutcomes =
    all.synchronized(all.computeIfAbsent((options, partition), _ => new TransactionOutcomes))

  /** Keeps the `most` that were used last. */
  private final class Newest[K, V](most: Int) extends java.util.LinkedHashMap[K, V](16, 0.75f, true) {
    override def removeEldestEntry(eldest: java.util.Map.Entry[K, V]): Boolean = size > most
  }
}

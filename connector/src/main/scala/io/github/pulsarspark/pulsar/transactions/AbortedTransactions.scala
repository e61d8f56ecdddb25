package io.github.pulsarspark.pulsar.transactions

import java.util.concurrent.CompletableFuture

import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode

import io.github.pulsarspark.format.{TransactionView, UndecidedTransaction}
import io.github.pulsarspark.options.{ClientOptions, ReadLevel, ReadOptions}
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.pulsar.admin.AdminApi
import io.github.pulsarspark.pulsar.connection.{ClientPool, ClusterCalls}

/** The transaction buffer of a topic partition, as the admin API shows it. */
private[pulsar] trait TransactionBuffer {
  def stats(): JsonNode
  def transaction(mostBits: Long, leastBits: Long): JsonNode
}

/** Looks up the transactions of a range, each once. Nothing is requested before there is a message of one.
  *
  * Ranges end where the broker delivers messages, so the transactions in them are decided, and one that is not aborted
  * was committed. What is aborted stays so; that something is not aborted counts only if the buffer was complete when
  * it was requested: after the topic moved, it has to be built again.
  *
  * @param outcomes
  *   what this JVM knows of transactions of the topic partition
  * @param end
  *   of the range
  * @param most
  *   the number of transactions of the topic partition that this JVM looks up one by one within some minutes, with two
  *   requests each. After that the broker reads. None where it must not.
  */
private[pulsarspark] final class AbortedTransactions private[pulsar] (
    buffer: TransactionBuffer,
    outcomes: TransactionOutcomes,
    end: Position,
    most: Option[Int]
) extends TransactionView {
  import AbortedTransactions._

  private var state: Option[BufferState] = None

  override def isAborted(mostBits: Long, leastBits: Long): Boolean =
    outcomes.get(mostBits, leastBits).getOrElse(!isNothingAborted && lookUp(mostBits, leastBits))

  /** True if no transaction of the range was aborted. Another reader's state counts if everything in the range was
    * decided by then.
    */
  private def isNothingAborted: Boolean = {
    if (state.isEmpty) state = Some(outcomes.state.filter(_.maxRead.exists(_ >= end.wholeEntry)).getOrElse(look()))
    state.exists(_.nothingAborted)
  }

  private def lookUp(mostBits: Long, leastBits: Long): Boolean = {
    most.filterNot(outcomes.mayAsk).foreach { most =>
      throw new UndecidedTransaction(
        s"this is one of more than $most transactions that would have to be asked about one by one"
      )
    }
    val isAborted = decide(mostBits, leastBits, Attempts)
    outcomes.put(mostBits, leastBits, isAborted)
    isAborted
  }

  @annotation.tailrec
  private def decide(mostBits: Long, leastBits: Long, attempts: Int): Boolean = {
    val answer = buffer.transaction(mostBits, leastBits).path("aborted")
    if (!answer.isBoolean)
      throw new UndecidedTransaction(s"the broker did not say whether transaction ($mostBits,$leastBits) was aborted")
    if (answer.booleanValue) true
    else {
      val (before, after) = (state, Some(look()))
      state = after
      if (before.map(_.since) == after.map(_.since)) false
      else if (attempts == 1) throw new UndecidedTransaction("the topic moves from broker to broker")
      else decide(mostBits, leastBits, attempts - 1)
    }
  }

  private def look(): BufferState = {
    val stats = buffer.stats()
    if (stats.path("state").asText != "Ready")
      throw new UndecidedTransaction(s"the state of its transactions is ${stats.path("state").asText("unknown")}")
    val current = BufferState(
      stats.path("recoverStartTime").asLong,
      stats.path("totalAbortedTransactions").asLong(-1) == 0,
      Position.parse(stats.path("maxReadPosition").asText)
    )
    outcomes.state = Some(current)
    current
  }
}

private[pulsarspark] object AbortedTransactions {

  /** Returns the view of a range that is not read through the broker. */
  def of(range: OffsetRange, options: ReadOptions): AbortedTransactions = new AbortedTransactions(
    new AdminTransactionBuffer(range.topic, options.client),
    TransactionOutcomes.of(options.client, range.topic),
    range.endInclusive,
    Option.when(options.readLevel == ReadLevel.Auto)(MaxAsked)
  )

  private val Attempts = 3
  private val MaxAsked = 100
}

/** A topic partition's transactions over the admin API. */
private final class AdminTransactionBuffer(partition: String, options: ClientOptions)
    extends TransactionBuffer {

  override def stats(): JsonNode = request(_.transactionBuffer(partition))

  override def transaction(mostBits: Long, leastBits: Long): JsonNode =
    request(_.transaction(partition, mostBits, leastBits))

  private def request(call: AdminApi => CompletableFuture[JsonNode]): JsonNode = {
    val lease = ClientPool.acquire(options)
    try {
      val admin = lease.admin.getOrElse(throw new UndecidedTransaction("admin.url is not set"))
      new ClusterCalls(options, admin.url).await(s"Requesting the transactions of $partition")(call(admin))
    } catch {
      case undecided: UndecidedTransaction => throw undecided
      case NonFatal(e)                     =>
        throw new UndecidedTransaction(
          s"the admin service did not tell which transactions were aborted (${e.getMessage})"
        )
    } finally lease.close()
  }
}

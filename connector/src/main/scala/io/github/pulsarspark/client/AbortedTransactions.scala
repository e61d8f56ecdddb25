package io.github.pulsarspark.client

import scala.collection.mutable

import com.fasterxml.jackson.databind.JsonNode

import io.github.pulsarspark.log.{TransactionView, UndecidedTransaction}

/** What the broker of a topic partition knows about transactions: its transaction buffer, as the admin API shows it. */
private[client] trait TransactionBuffer {
  def stats(): JsonNode
  def transaction(mostBits: Long, leastBits: Long): JsonNode
}

/** Asks the broker about transactions, each once. Nothing is asked before there is a message of one.
  *
  * Ranges end where the broker delivers messages, so the transactions in them are decided, and one that is not aborted was committed. What is aborted stays so;
  * that something is not aborted counts only if the buffer was complete when it was asked: after the topic moved, it has to be built again.
  */
private[pulsarspark] final class AbortedTransactions(buffer: TransactionBuffer) extends TransactionView {
  import AbortedTransactions._

  private val known                   = mutable.LinkedHashMap.empty[(Long, Long), Boolean]
  private var state: Option[Complete] = None

  override def isAborted(mostBits: Long, leastBits: Long): Boolean = {
    if (state.isEmpty) state = Some(look())
    !state.exists(_.nothingAborted) && {
      if (known.size >= MostKnown) known.remove(known.head._1)
      known.getOrElseUpdate((mostBits, leastBits), ask(mostBits, leastBits))
    }
  }

  private def ask(mostBits: Long, leastBits: Long): Boolean = {
    def look(attempts: Int): Boolean = {
      val answer = buffer.transaction(mostBits, leastBits).path("aborted")
      if (!answer.isBoolean)
        throw new UndecidedTransaction(s"the broker did not say whether transaction ($mostBits,$leastBits) was aborted")
      answer.booleanValue || {
        val (before, after) = (state, Some(this.look()))
        state = after
        if (before.map(_.since) == after.map(_.since)) false
        else if (attempts == 1) throw new UndecidedTransaction("the topic moves from broker to broker")
        else look(attempts - 1)
      }
    }
    look(Attempts)
  }

  private def look(): Complete = {
    val stats = buffer.stats()
    if (stats.path("state").asText != "Ready")
      throw new UndecidedTransaction(s"the state of its transactions is ${stats.path("state").asText("unknown")}")
    Complete(stats.path("recoverStartTime").asLong, stats.path("totalAbortedTransactions").asLong(-1) == 0)
  }
}

private object AbortedTransactions {

  /** @param since
    *   when the broker began to build it
    */
  private final case class Complete(since: Long, nothingAborted: Boolean)

  private val Attempts = 3

  /** Transactions whose outcome is kept. */
  private val MostKnown = 100000
}

package io.github.pulsarspark.pulsar.transactions

import scala.annotation.tailrec
import scala.collection.concurrent.TrieMap
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode
import org.slf4j.LoggerFactory

import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.position.OffsetRange
import io.github.pulsarspark.pulsar.admin.AdminApi
import io.github.pulsarspark.pulsar.connection.ClusterCalls

/** Finds out which topic partitions never had a transaction. A broker takes a snapshot of the transactions of a
  * partition before it stores the first message of one, and then always has one. For many threads.
  *
  * @param request
  *   the transaction buffer of a partition, waits for the response
  */
private[pulsarspark] final class TransactionUse private[transactions] (request: String => JsonNode) {
  import TransactionUse._

  private val answers = TrieMap.empty[String, Answer]

  /** True if no ledger of the range but its last has a message of a transaction. Sends one request at most for each
    * last ledger, and none after it was false.
    */
  def isUnused(range: OffsetRange): Boolean = {
    val last = range.endInclusive.ledgerId
    answers.get(range.topic).filter(a => a.upTo >= last).getOrElse {
      val answer = ask(range.topic, last)
      answers.put(range.topic, answer)
      answer
    }.isUnused
  }

  /** Forgets deleted topic partitions. */
  def retain(exists: String => Boolean): Unit = answers.filterInPlace((partition, _) => exists(partition))

  private def ask(partition: String, last: Long): Answer =
    try
      request(partition).path("state").asText match {
        case "NoSnapshot"   => Answer(last, isUnused = true)
        case "Initializing" => Answer(-1, isUnused = false)
        case _              => Answer(Long.MaxValue, isUnused = false)
      }
    catch {
      case NonFatal(e) if isOff(e) => Answer(Long.MaxValue, isUnused = true)
      case NonFatal(e)             =>
        log.info("It is not known whether {} had transactions: {}", partition, e.getMessage: Any)
        Answer(last, isUnused = false)
    }
}

private[pulsarspark] object TransactionUse {
  private val log = LoggerFactory.getLogger(classOf[TransactionUse])

  /** @param upTo
    *   holds for ranges that end in this ledger, or before it
    */
  private final case class Answer(upTo: Long, isUnused: Boolean)

  def apply(admin: AdminApi, options: ClientOptions): TransactionUse = {
    val calls = new ClusterCalls(options, admin.url)
    new TransactionUse(partition =>
      calls.await(s"Asking for the transactions of $partition")(admin.transactionBuffer(partition))
    )
  }

  /** Brokers refuse the request, and every transaction, unless they are configured for them. */
  @tailrec
  private def isOff(e: Throwable): Boolean =
    Option(e.getMessage).exists(_.contains("transactionCoordinatorEnabled")) ||
      (e.getCause match {
        case null  => false
        case cause => isOff(cause)
      })
}

package io.github.pulsarspark.pulsar.transactions

import java.util.concurrent.CompletableFuture

import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.JsonNode

import io.github.pulsarspark.format.UndecidedTransaction
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.pulsar.admin.AdminApi
import io.github.pulsarspark.pulsar.connection.{ClientPool, ClusterCalls}

/** A topic partition's transactions over the admin API. */
private[pulsarspark] final class AdminTransactionBuffer(partition: String, options: ClientOptions)
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

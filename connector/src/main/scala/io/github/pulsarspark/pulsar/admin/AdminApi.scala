package io.github.pulsarspark.pulsar.admin

import java.util.concurrent.CompletableFuture

import com.fasterxml.jackson.databind.JsonNode
import org.apache.pulsar.client.api.PulsarClientException
import org.apache.pulsar.client.impl.AdminHttp
import org.apache.pulsar.common.naming.TopicName

/** Pulsar's admin REST service, as far as reads and the statements of a catalog need it. Requests have the client's own
  * retries and time-outs; wait for the responses with [[io.github.pulsarspark.pulsar.connection.ClusterCalls]].
  */
private[pulsarspark] final class AdminApi private[pulsar] (http: AdminHttp, val url: String) {

  /** Requests how a topic partition is stored: its ledgers and its end. Needs the permission to consume.
    *
    * @param withMetadata
    *   also the metadata of each ledger, for which the broker opens all of them
    * @param sink
    *   created for each host that responds; called on the client's threads
    */
  def internalStats[A](partition: String, withMetadata: Boolean)(sink: => LedgerSink[A]): CompletableFuture[A] =
    http.read[A](s"${path(partition)}/internalStats?metadata=$withMetadata", () => new LedgerAnswer(sink))

  /** Requests the ledgers of a topic partition in the metadata store: when they were closed, and under which id they
    * were offloaded.
    */
  def internalInfo[A](partition: String)(sink: => LedgerSink[A]): CompletableFuture[A] =
    http.read[A](s"${path(partition)}/internal-info", () => new LedgerAnswer(sink))

  /** Requests the state of a topic partition's transaction buffer. */
  def transactionBuffer(partition: String): CompletableFuture[JsonNode] =
    http.get(s"admin/v3/transactions/transactionBufferStats/${name(partition)}")

  /** Requests the state of one transaction in the buffer. */
  def transaction(partition: String, mostBits: Long, leastBits: Long): CompletableFuture[JsonNode] =
    http.get(s"admin/v3/transactions/transactionInBufferStats/${name(partition)}/$mostBits/$leastBits")

  /** Requests whether the service knows a topic partition. Needs the permission to consume. */
  def knows(partition: String): CompletableFuture[Boolean] =
    find(s"${path(partition).stripPrefix("admin/")}/internalStats?metadata=false").thenApply(_.isDefined)

  /** Requests any other resource by its path after `/admin/`; None if it does not exist. */
  def find(resource: String): CompletableFuture[Option[JsonNode]] = found(http.get(s"admin/$resource"))

  /** Turns the failure of a request into None if what it asks for does not exist. */
  def found[A](answer: CompletableFuture[A]): CompletableFuture[Option[A]] =
    answer.thenApply[Option[A]](Some(_)).exceptionally(ifMissing)

  /** Creates a topic, with partitions unless their number is 0.
    *
    * Brokers look for a topic without partitions before they create it, so of two that create it at the same time both
    * may succeed. Such a topic is created with a property, which is that of the first one.
    *
    * @param creator
    *   identifies the caller
    */
  def create(topic: String, partitions: Int, creator: String): CompletableFuture[Outcome] =
    if (partitions > 0) change("PUT", s"${path(topic)}/partitions", partitions.toString)
    else
      change("PUT", path(topic), s"""{"${AdminApi.Creator}": "$creator"}""").thenCompose {
        case Outcome.Done => settled(http.get(s"${path(topic)}/properties")).thenApply {
            case Right(properties) if properties.path(AdminApi.Creator).asText != creator => Outcome.Exists
            case _                                                                        => Outcome.Done
          }
        case other => CompletableFuture.completedFuture(other)
      }

  /** Raises the number of partitions. */
  def setPartitions(topic: String, partitions: Int): CompletableFuture[Outcome] =
    change("POST", s"${path(topic)}/partitions", partitions.toString)

  /** Deletes a topic with its messages and its schema, unless somebody uses it. */
  def delete(topic: String, isPartitioned: Boolean): CompletableFuture[Outcome] =
    change("DELETE", if (isPartitioned) s"${path(topic)}/partitions" else path(topic))

  /** Requests a policy that a topic has of its own: an empty node without one. */
  def policy(topic: String, name: String): CompletableFuture[Either[Outcome, JsonNode]] =
    settled(http.get(s"${path(topic)}/$name"))

  /** Sets a policy of a topic.
    *
    * @param json
    *   its value
    */
  def setPolicy(topic: String, name: String, json: String): CompletableFuture[Outcome] =
    if (name == "messageTTL") change("POST", s"${path(topic)}/$name?$name=$json")
    else change("POST", s"${path(topic)}/$name", json)

  /** Removes a policy of a topic, so that the one of its namespace holds. */
  def removePolicy(topic: String, name: String): CompletableFuture[Outcome] = change("DELETE", s"${path(topic)}/$name")

  private def change(method: String, path: String, json: String*): CompletableFuture[Outcome] =
    settled(http.change(method, path, json.headOption.orNull)).thenApply(_.fold(identity, _ => Outcome.Done))

  /** The answer, or why the service does not do it. */
  private def settled[A](answer: CompletableFuture[A]): CompletableFuture[Either[Outcome, A]] = {
    type Settled = Either[Outcome, A]
    answer.handle[CompletableFuture[Settled]] { (value, failure) =>
      if (failure == null) CompletableFuture.completedFuture(Right(value))
      else
        Outcome.of(failure).fold(CompletableFuture.failedFuture[Settled](failure))(o =>
          CompletableFuture.completedFuture(Left(o))
        )
    }.thenCompose[Settled](settled => settled)
  }

  private def name(partition: String) = TopicName.get(partition).getRestPath.stripPrefix("persistent/")

  private def path(partition: String) = s"admin/v2/${TopicName.get(partition).getRestPath}"

  private def ifMissing[A]: java.util.function.Function[Throwable, Option[A]] = {
    case e: java.util.concurrent.CompletionException
        if e.getCause.isInstanceOf[PulsarClientException.NotFoundException] => None
    case _: PulsarClientException.NotFoundException => None
    case e                                          => throw new java.util.concurrent.CompletionException(e)
  }
}

private object AdminApi {
  private val Creator = "pulsar-spark.creator"
}

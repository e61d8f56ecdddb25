package io.github.pulsarspark.write.exactlyonce.status

import java.time.{Duration, Instant}

import scala.jdk.CollectionConverters._
import scala.util.Using

import com.fasterxml.jackson.databind.JsonNode

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.connection.ClusterCalls
import io.github.pulsarspark.pulsar.topics.SinkTopicNames.{Log, Mark, Open}
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.pulsar.transactions.TransactionId
import io.github.pulsarspark.write.exactlyonce.{DatedRecord, SinkRecords, SinkRepair, SinkTopics}

/** Reads the state of a sink, and changes nothing. Needs the right to consume its topics. The admin service adds who is
  * connected and which transactions are open, as far as the role may ask that.
  */
private[pulsarspark] object SinkInspection {

  /** The facts of a sink. Fails if it does not exist. */
  def apply(client: ClientOptions, namespace: String, sinkId: String): Seq[SinkFact] =
    Using.resource(PulsarConnection(client)) { connection =>
      val topics   = SinkTopics(namespace, sinkId)
      val existing = connection.broker().partitions(Seq(topics.log, topics.open, topics.mark)).keySet
      if (!existing(topics.log)) throw SinkRepair.missing(sinkId, topics)
      // before the records, so that each of the sink that is open is in them
      val running = ask(connection, client, "v3/transactions/slowTransactions/0").map(transactions)
      val drivers = ask(connection, client, TopicNames.statistics(topics.log)).map(producers)
      def records(topic: String, end: String): Seq[DatedRecord] =
        if (!existing(topic)) Nil
        else Using.resource(connection.control(topic).reader())(_.toEnd()).map { case (id, text) =>
          SinkRecords.dated(text).getOrElse(throw SinkRecords.unreadable(sinkId, id, end))
        }
      val log = records(topics.log, Log) // first: what it decides was opened before
      SinkStatus(namespace, log, records(topics.open, Open), records(topics.mark, Mark), drivers, running,
        Instant.now).facts
    }

  /** The response of the admin service; None without one, and without the right to ask. */
  private def ask(connection: PulsarConnection, client: ClientOptions, resource: String): Option[JsonNode] =
    try connection.admin.flatMap(a => new ClusterCalls(client, a.url).await(s"Requesting $resource")(a.find(resource)))
    catch { case e: RuntimeException if Conditions.AccessDenied.is(e) => None }

  private def transactions(open: JsonNode): Map[TransactionId, RunningTransaction] =
    open.properties().asScala.flatMap { entry =>
      val fields = entry.getValue
      val name   = if (fields.path("txnId").isTextual) fields.path("txnId").asText else entry.getKey
      Id.findFirstMatchIn(name).filter(_ => fields.path("status").asText == "OPEN").map(found =>
        TransactionId(found.group(1).toLong, found.group(2).toLong) -> RunningTransaction(
          Instant.ofEpochMilli(fields.path("openTimestamp").asLong),
          Duration.ofMillis(fields.path("timeoutAt").asLong)
        )
      )
    }.toMap

  private def producers(statistics: JsonNode): Seq[String] = statistics.path("publishers").elements.asScala.toSeq.map(
    one => s"${one.path("producerName").asText} at ${one.path("address").asText}"
  )

  private val Id = raw"\((-?\d+),\s*(-?\d+)\)".r
}

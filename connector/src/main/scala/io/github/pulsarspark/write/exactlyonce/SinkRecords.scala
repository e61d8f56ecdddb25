package io.github.pulsarspark.write.exactlyonce

import java.time.Instant

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.pulsar.transactions.TransactionId

/** Records as JSON. */
private[exactlyonce] object SinkRecords {
  import SinkRecord._

  private val Version = 1
  private val json    = new ObjectMapper

  /** @param time milliseconds since 1970 */
  def text(identity: SinkIdentity, record: SinkRecord, time: Long = System.currentTimeMillis()): String = {
    val node                 = json.createObjectNode().put("version", Version)
    def header(kind: String) = node
      .put("kind", kind)
      .put("sinkId", identity.sinkId)
      .put("nonce", identity.nonce)
      .put("owner", identity.owner)
      .put("time", time)
    record match {
      case Owner(target)                                                  => header("owner").put("target", target)
      case Prepared(epoch, all, from, target, topicPartitions, isTakenOn) =>
        header("prepared").put("epoch", epoch).put("target", target).put("from", from)
        if (topicPartitions.nonEmpty) topicPartitions.foreach(node.withArray[ArrayNode]("/topicPartitions").add(_))
        if (isTakenOn) node.put("takenOn", true)
        list(node, all)
      case Done(epoch, n, rows, bytes, target, others, lost, isTakenOn) =>
        header("done").put("epoch", epoch).put("target", target)
          .put("transactions", n).put("rows", rows).put("bytes", bytes)
        if (lost > 0) node.put("lost", lost)
        if (isTakenOn) node.put("takenOn", true)
        if (others.nonEmpty) {
          val last = node.putObject("others")
          others.toSeq.sorted.foreach { case (other, epoch) => last.put(other, epoch) }
        }
      case Dropped(epoch)                   => header("dropped").put("epoch", epoch)
      case Open(epoch, one, timeout, began) =>
        list(header("open").put("time", began).put("epoch", epoch).put("timeout", timeout), Seq(one))
      case Marker(epoch, one) => list(header("marker").put("epoch", epoch), Seq(one))
      case Barrier(id)        => header("barrier").put("barrier", id)
      case Other(kind)        => header(kind)
    }
    json.writeValueAsString(node)
  }

  private def list(node: ObjectNode, transactions: Seq[SinkTransaction]): ObjectNode = {
    val array = node.putArray("transactions")
    transactions.foreach { t =>
      val one = array
        .addObject()
        .put("most", t.id.most)
        .put("least", t.id.least)
        .put("partition", t.partition)
        .put("attempt", t.attempt)
        .put("rows", t.rows)
        .put("bytes", t.bytes)
      t.marker.foreach(one.put("marker", _))
    }
    node
  }

  /** Parses a record; None for a text that is no record of this version. */
  def parse(text: String): Option[(SinkIdentity, SinkRecord)] = dated(text).map(d => d.identity -> d.record)

  /** Like `parse`, with the time of writing. */
  def dated(text: String): Option[DatedRecord] =
    try {
      val node = json.readTree(text)
      Option.when(node.path("version").asInt == Version)(
        DatedRecord(identity(node), record(node), Instant.ofEpochMilli(node.path("time").longValue))
      )
    } catch { case NonFatal(_) => None }

  /** The error of a record that [[parse]] does not know.
    *
    * @param topic
    *   end of the name of its topic, such as `-log`
    */
  def unreadable(sinkId: String, recordId: String, topic: String): Exception = Conditions.SinkState(
    sink = sinkId,
    problem = s"this version cannot read record $recordId of its topic $topic",
    action = "Use the version of the connector that wrote it"
  ).exception

  private def identity(node: JsonNode) =
    SinkIdentity(node.required("sinkId").asText, node.required("nonce").asText, node.required("owner").asText)

  private def record(node: JsonNode): SinkRecord = {
    def epoch = node.required("epoch").longValue
    def all   = node.required("transactions").elements.asScala.map(transaction).toSeq
    node.required("kind").asText match {
      case "owner"    => Owner(node.path("target").asText)
      case "prepared" =>
        val topicPartitions = node.path("topicPartitions").elements.asScala.map(_.asText).toSeq
        Prepared(epoch, all, node.required("from").asText, node.path("target").asText, topicPartitions,
          node.path("takenOn").booleanValue)
      case "done" => Done(
          epoch,
          node.path("transactions").intValue,
          node.path("rows").longValue,
          node.path("bytes").longValue,
          node.path("target").asText,
          node.path("others").properties.asScala.map(e => e.getKey -> e.getValue.longValue).toMap,
          node.path("lost").longValue,
          node.path("takenOn").booleanValue
        )
      case "dropped" => Dropped(epoch)
      case "open"    => Open(epoch, all.head, node.path("timeout").longValue, node.path("time").longValue)
      case "marker"  => Marker(epoch, all.head)
      case "barrier" => Barrier(node.required("barrier").asText)
      case kind      => Other(kind)
    }
  }

  private def transaction(node: JsonNode) = SinkTransaction(
    TransactionId(node.required("most").longValue, node.required("least").longValue),
    node.required("partition").intValue,
    node.required("attempt").longValue,
    node.path("rows").longValue,
    node.path("bytes").longValue,
    Option(node.path("marker").textValue)
  )
}

/** A record with the time of writing, on the clock of the writer. */
private[exactlyonce] final case class DatedRecord(identity: SinkIdentity, record: SinkRecord, time: Instant)

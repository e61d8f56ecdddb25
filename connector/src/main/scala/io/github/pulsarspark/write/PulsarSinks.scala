package io.github.pulsarspark.write

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.node.{JsonNodeFactory, ObjectNode}
import org.apache.spark.sql.SparkSession

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.{ExactlyOnceOptions, SessionOptions, WriteOptions}
import io.github.pulsarspark.options.registry.Scope
import io.github.pulsarspark.pulsar.connection.ClientSettings
import io.github.pulsarspark.write.exactlyonce.{RepairSettings, RepairedSink, SinkRepair, SinkSettings, SinkTransaction, TornEpoch}

/** Finds and finishes exactly-once sinks without a writer. Needs the rights of the writes themselves: no admin service
  * and no super-user. Callers are outside the JVM as well (`pulsar_spark.sinks`), so results are JSON.
  */
object PulsarSinks {

  private val nodes = JsonNodeFactory.instance

  /** The sinks whose state is in a namespace: `[{"sink": "trips", "nonce": "query:6f1c", "done": 7, "prepared": 8}]`.
    *
    * @param options
    *   those of a write; `sinkNamespace`, or that of the option `topic`
    */
  def list(spark: SparkSession, options: JMap[String, String]): String = {
    val (write, once) = typed(spark, options)
    val result        = nodes.arrayNode()
    SinkRepair.logs(write.client, SinkSettings.namespace(write, once)).foreach { case (id, log) =>
      val one = result.addObject().put("sink", id).put("nonce", log.nonce.orNull).put("target", log.target)
      log.last.foreach(d => one.put("done", d.epoch))
      log.prepared.foreach(p => one.put("prepared", p.epoch))
    }
    result.toString
  }

  /** Repairs a sink as its next driver would: commits the recorded epoch and aborts everything else. Removes the state
    * of a batch without `txnVersion`. Fails with `PULSAR_SINK_STATE` while a driver is connected, and with
    * `PULSAR_SINK_EPOCH_TORN` for an epoch of which a part is lost.
    *
    * @param options
    *   those of the write, with its `sinkId`
    * @param torn
    *   `""`, or what is accepted of a torn epoch: `lost`, that it counts as written without the lost rows, or
    *   `repeated`, that it is written again as a whole
    * @param epoch
    *   the torn one
    */
  def repair(spark: SparkSession, options: JMap[String, String], torn: String, epoch: Long): String = {
    val (write, once) = typed(spark, options)
    val sinkId = once.sinkId.getOrElse(ExactlyOnceOptions.refuse("`sinkId` is not set", "Set the id of the sink"))
    val onTorn = torn match {
      case ""         => TornEpoch.Refuse
      case "lost"     => TornEpoch.AcceptLost(epoch)
      case "repeated" => TornEpoch.AcceptRepeated(epoch)
      case other      =>
        throw Conditions.OptionInvalid(option = "torn", value = other, allowed = "lost or repeated").exception
    }
    val namespace = SinkSettings.namespace(write, once)
    json(sinkId, SinkRepair(RepairSettings(write.client, namespace, sinkId, once.timeout, onTorn)))
  }

  private def typed(spark: SparkSession, options: JMap[String, String]): (WriteOptions, ExactlyOnceOptions) = {
    val all     = options.asScala.toMap + ("deliveryGuarantee" -> "exactly-once")
    val checked = SessionOptions.check(spark, all, ClientSettings.fields, Scope.BatchWrite)
    val write   = WriteOptions(checked)
    write -> write.exactlyOnce.get
  }

  private def json(sinkId: String, repaired: RepairedSink): String = {
    val result = nodes.objectNode().put("sink", sinkId).put("nonce", repaired.nonce.orNull)
      .put("aborted", repaired.aborted).put("removed", repaired.isRemoved)
    repaired.epoch.foreach { e =>
      val lost = result.put("epoch", e.epoch).put("outcome", e.outcome).putArray("lost")
      e.lost.foreach(t => lost.add(transaction(t)))
    }
    result.toString
  }

  private def transaction(one: SinkTransaction): ObjectNode = nodes.objectNode().put("most", one.id.most)
    .put("least", one.id.least).put("partition", one.partition).put("attempt", one.attempt).put("rows", one.rows)
    .put("bytes", one.bytes)
}

package io.github.pulsarspark.write

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.node.{JsonNodeFactory, ObjectNode}
import org.apache.spark.sql.SparkSession

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.registry.{CheckedOptions, RawOptions, Scope}
import io.github.pulsarspark.options.{ExactlyOnceOptions, SessionOptions, WriteOptions}
import io.github.pulsarspark.pulsar.connection.ClientSettings
import io.github.pulsarspark.write.exactlyonce.{RepairSettings, RepairedSink, SinkRepair, SinkSettings, SinkTransaction, TornEpoch}

/** Finishes exactly-once sinks without a writer. Needs the rights of the writes themselves: no admin service and no
  * super-user. Callers are outside the JVM as well (`pulsar_spark.sinks`, the command line), so results are JSON.
  */
object PulsarSinks {

  private val nodes = JsonNodeFactory.instance

  /** Repairs a sink as its next driver would: commits the recorded epoch and aborts everything else. Removes the state
    * of a batch without `txnVersion`. Fails with `PULSAR_SINK_STATE` while a driver is connected, and with
    * `PULSAR_SINK_EPOCH_TORN` for an epoch of which a part is lost.
    *
    * @param options
    *   those of the write, with its `sinkId`, over those of the session
    * @param torn
    *   `""`, or what is accepted of a torn epoch: `lost`, that it counts as written without the lost rows, or
    *   `repeated`, that it is written again as a whole
    * @param epoch
    *   the torn one
    */
  def repair(spark: SparkSession, options: JMap[String, String], torn: String, epoch: Long): String =
    repair(inSession(spark, options), torn, epoch, isLast = false).toString

  /** Repairs a sink that nothing will write to any more, and removes its state. Then the write must not start again: it
    * would not know what is written.
    */
  def finish(spark: SparkSession, options: JMap[String, String]): String =
    repair(inSession(spark, options), "", 0, isLast = true).toString

  /** Does the same as both, without a session. */
  private[pulsarspark] def repair(options: Map[String, String], torn: String, epoch: Long, isLast: Boolean)
      : ObjectNode =
    repair(new RawOptions(once(options), ClientSettings.fields).check(Scope.BatchWrite), torn, epoch, isLast)

  private def inSession(spark: SparkSession, options: JMap[String, String]) =
    SessionOptions.check(spark, once(options.asScala.toMap), ClientSettings.fields, Scope.BatchWrite)

  private def once(options: Map[String, String]) = options + ("deliveryGuarantee" -> "exactly-once")

  private def repair(options: CheckedOptions, torn: String, epoch: Long, isLast: Boolean): ObjectNode = {
    val write  = WriteOptions(options)
    val once   = write.exactlyOnce.get
    val sinkId = once.sinkId.getOrElse(ExactlyOnceOptions.refuse("`sinkId` is not set", "Set the id of the sink"))
    val onTorn = torn match {
      case ""         => TornEpoch.Refuse
      case "lost"     => TornEpoch.AcceptLost(epoch)
      case "repeated" => TornEpoch.AcceptRepeated(epoch)
      case other      =>
        throw Conditions.OptionInvalid(option = "torn", value = other, allowed = "lost or repeated").exception
    }
    val namespace = SinkSettings.namespace(write, once)
    json(sinkId, SinkRepair(RepairSettings(write.client, namespace, sinkId, once.timeout, onTorn, isLast)))
  }

  private def json(sinkId: String, repaired: RepairedSink): ObjectNode = {
    val result = nodes.objectNode().put("sink", sinkId).put("nonce", repaired.nonce.orNull)
      .put("aborted", repaired.aborted).put("removed", repaired.isRemoved)
    repaired.epoch.foreach { e =>
      val lost = result.put("epoch", e.epoch).put("outcome", e.outcome).putArray("lost")
      e.lost.foreach(t => lost.add(transaction(t)))
    }
    result
  }

  private def transaction(one: SinkTransaction): ObjectNode = nodes.objectNode().put("most", one.id.most)
    .put("least", one.id.least).put("partition", one.partition).put("attempt", one.attempt).put("rows", one.rows)
    .put("bytes", one.bytes)
}

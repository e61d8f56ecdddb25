package io.github.pulsarspark.inspect.reads

import com.fasterxml.jackson.databind.node.{JsonNodeFactory, ObjectNode}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.StreamingRelationV2
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation

import io.github.pulsarspark.common.Slots
import io.github.pulsarspark.read.{MessageTable, PulsarScan}
import io.github.pulsarspark.read.task.PulsarInputPartition
import io.github.pulsarspark.storage.segment.Slice

/** Shows how the reads of a query are divided into tasks, before they run. Callers are outside the JVM
  * (`pulsar_spark.plan`), so the result is text.
  *
  * The plan shown is the plan of the read itself. Spark has no public name for the scans of a query: the relation that
  * holds them is the same class from Spark 3.1 to 4.3.
  */
object ReadPlans {

  private val nodes = JsonNodeFactory.instance

  /** All tasks as JSON: `{"reads": 1, "tasks": [{"hosts": [...], "slices": [{...}]}]}`. Reads no entries, but requests
    * positions and ledgers of clusters.
    *
    * @param query
    *   the optimized plan of a DataFrame
    */
  def json(query: LogicalPlan): String = {
    val reads = query.collectWithSubqueries { case relation: DataSourceV2ScanRelation => relation.scan }.collect {
      case s: PulsarScan => s
    }
    val tasks = nodes.arrayNode()
    reads.flatMap(_.tasks).foreach(t => tasks.add(task(t)))
    nodes.objectNode().put("reads", reads.size).set[ObjectNode]("tasks", tasks).toString
  }

  /** The tasks that follow the topics of a stream in real-time mode, as JSON: `{"reads": 1, "tasks": [[{...}]]}` with
    * the partitions of each. Reads no entries, and starts nothing.
    *
    * @param query
    *   the analyzed plan of a streaming DataFrame
    * @param checkpoint
    *   path of the checkpoint of a query that goes on; empty for a first start
    */
  def realTimeJson(query: LogicalPlan, checkpoint: String): String = {
    val spark = SparkSession.active.sparkContext
    val reads = query.collectWithSubqueries { case r: StreamingRelationV2 => (r.table, r.extraOptions) }.collect {
      case (table: MessageTable, options) => table.newScanBuilder(options).build()
    }
    val tasks = nodes.arrayNode()
    for {
      read <- reads
      task <- RealTimePlan.of(read.streamOptions, Option(checkpoint).filter(_.nonEmpty), spark.hadoopConfiguration,
        Slots.of(spark))
    } {
      val partitions = tasks.addArray()
      task.foreach(one => partitions.add(followed(one)))
    }
    nodes.objectNode().put("reads", reads.size).set[ObjectNode]("tasks", tasks).toString
  }

  /** Skips numbers that are unknown. */
  private def followed(partition: FollowedPartition): ObjectNode = {
    val result = nodes.objectNode().put("topic", partition.topic).put("after", partition.after.toString)
    partition.last.foreach(last => result.put("last", last.toString))
    partition.entries.foreach(result.put("entries", _))
    partition.bytes.foreach(result.put("bytes", _))
    result
  }

  private def task(partition: PulsarInputPartition): ObjectNode = {
    val result = nodes.objectNode()
    val hosts  = result.putArray("hosts")
    val slices = result.putArray("slices")
    partition.preferredLocations().foreach(hosts.add(_))
    partition.slices.foreach(s => slices.add(slice(s)))
    result
  }

  /** Skips numbers and reasons that are unknown. */
  private def slice(s: Slice): ObjectNode = {
    val result = nodes
      .objectNode()
      .put("topic", s.topic)
      .put("after", s.range.startExclusive.toString)
      .put("through", s.range.endInclusive.toString)
      .put("tier", s.level.name)
    s.entries.foreach(result.put("entries", _))
    s.segment.foreach(segment => result.put("bytes", segment.bytes))
    if (s.segment.isEmpty) result.put("reason", s.reason)
    result
  }
}

package io.github.pulsarspark.inspect.reads

import com.fasterxml.jackson.databind.node.{JsonNodeFactory, ObjectNode}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation

import io.github.pulsarspark.read.PulsarScan
import io.github.pulsarspark.read.task.PulsarInputPartition
import io.github.pulsarspark.storage.segment.Slice

/** Shows how the batch reads of a query are divided into tasks, before they run. Callers are outside the JVM
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

  private def task(partition: PulsarInputPartition): ObjectNode = {
    val result = nodes.objectNode()
    val hosts  = result.putArray("hosts")
    val slices = result.putArray("slices")
    partition.preferredLocations().foreach(hosts.add(_))
    partition.slices.foreach(s => slices.add(slice(s.slice)))
    result
  }

  /** Skips numbers and reasons that are unknown. */
  private def slice(s: Slice): ObjectNode = {
    val result = nodes
      .objectNode()
      .put("topic", s.range.topic)
      .put("after", s.range.startExclusive.toString)
      .put("through", s.range.endInclusive.toString)
      .put("tier", s.level.name)
    s.entries.foreach(result.put("entries", _))
    s.segment.foreach(segment => result.put("bytes", segment.bytes))
    if (s.segment.isEmpty) result.put("reason", s.reason)
    result
  }
}

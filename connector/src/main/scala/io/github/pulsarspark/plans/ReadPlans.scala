package io.github.pulsarspark.plans

import com.fasterxml.jackson.databind.node.{JsonNodeFactory, ObjectNode}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation

import io.github.pulsarspark.read.PulsarInputPartition
import io.github.pulsarspark.read.scan.PulsarScan
import io.github.pulsarspark.storage.segment.Slice

/** Tells how the batch reads of a query share out what they read, before they read it. Callers are outside the JVM
  * (`pulsar_spark.plan`), so they get text.
  *
  * What is told is the plan that the read itself has, not another one made in the same way. Spark has no public name
  * for the scans of a query: the relation that holds them is the same class from Spark 3.1 to 4.3.
  */
object ReadPlans {

  private val nodes = JsonNodeFactory.instance

  /** All tasks as JSON: `{"reads": 1, "tasks": [{"hosts": [...], "slices": [{...}]}]}`. Nothing is read, but clusters
    * are asked where everything is.
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
    val made   = nodes.objectNode()
    val hosts  = made.putArray("hosts")
    val slices = made.putArray("slices")
    partition.preferredLocations().foreach(hosts.add(_))
    partition.slices.foreach(s => slices.add(slice(s.slice)))
    made
  }

  /** Numbers and reasons that are not known are left out. */
  private def slice(s: Slice): ObjectNode = {
    val made = nodes
      .objectNode()
      .put("topic", s.range.topic)
      .put("after", s.range.startExclusive.toString)
      .put("through", s.range.endInclusive.toString)
      .put("tier", s.level.name)
    s.entries.foreach(made.put("entries", _))
    s.segment.foreach(segment => made.put("bytes", segment.bytes))
    if (s.segment.isEmpty) made.put("reason", s.reason)
    made
  }
}

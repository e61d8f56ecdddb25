package io.github.pulsarspark.read.plan

import scala.collection.mutable

import io.github.pulsarspark.read.task.PlannedSchema
import io.github.pulsarspark.schema.TopicSchema

/** Chooses how the schemas of a plan reach its tasks. Spark serializes tasks one by one, so a definition of 50 KB in
  * 3,000 tasks would be sent 3,000 times. Such a schema reaches each executor once. Kept for a query: a stream shares a
  * schema once, not at each micro-batch.
  *
  * @param share
  *   prepares a schema for all executors
  */
private[read] final class TaskSchemas(share: TopicSchema => PlannedSchema) {
  import TaskSchemas._

  private val shared = mutable.Map.empty[TopicSchema, PlannedSchema]

  /** The form of each schema.
    *
    * @param ofTasks
    *   schemas that each task needs
    */
  def planned(ofTasks: Seq[Set[TopicSchema]]): Map[TopicSchema, PlannedSchema] = synchronized {
    val tasks = ofTasks.flatten.groupMapReduce(identity)(_ => 1L)(_ + _)
    shared.filterInPlace((schema, _) => tasks.contains(schema))
    tasks.map { case (schema, count) =>
      val isLarge = shared.contains(schema) || count * size(schema) > MaxBytes
      schema -> (if (isLarge) shared.getOrElseUpdate(schema, share(schema)) else PlannedSchema.Sent(schema))
    }
  }
}

private[plan] object TaskSchemas {

  /** Limit of what a schema adds to all tasks of a plan together; more is shared. */
  private[plan] val MaxBytes = 4L << 20

  private def size(schema: TopicSchema): Long = schema.definition.length.toLong +
    schema.message.fold(0)(_.length) + schema.properties.map { case (k, v) => k.length + v.length }.sum +
    schema.unversioned.fold(0L)(size)
}

package io.github.pulsarspark.read.task

import org.apache.spark.broadcast.Broadcast

import io.github.pulsarspark.common.JavaBytes
import io.github.pulsarspark.schema.TopicSchema

/** Schema of a planned slice in the form in which it reaches tasks. */
private[pulsarspark] sealed abstract class PlannedSchema extends Serializable {
  def value: TopicSchema
}

private[pulsarspark] object PlannedSchema {

  /** Travels with each task. */
  final case class Sent(value: TopicSchema) extends PlannedSchema

  /** Reaches each executor once, as bytes, for which Kryo needs no class of ours. */
  final case class Shared(broadcast: Broadcast[Array[Byte]]) extends PlannedSchema {
    @transient override lazy val value: TopicSchema = JavaBytes.value(broadcast.value)
  }
}

package io.github.pulsarspark.write

import org.apache.spark.sql.connector.write.PhysicalWriteInfo
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.WriteOptions
import io.github.pulsarspark.schema.columns.NamedIds

/** Checks writes whose rows have sequence ids under one producer's name: a broker that looks for duplicates would drop
  * new rows, and no one could distinguish them from those that it has.
  */
private[write] object NamedIdWrites {

  /** Checks options and columns, before any request.
    *
    * @param isRepeated
    *   whether other writes with these options follow: those of the next micro-batches
    */
  def check(input: StructType, options: WriteOptions, isRepeated: Boolean): Unit =
    if (NamedIds(options.producer, input.fieldNames.toSet)) {
      if (isRepeated && NamedIds.beginAgain(options.producer))
        refuse(
          "each micro-batch would begin again at `pulsar.producer.initialSequenceId`",
          "Remove the setting, and give rows ids that ascend over all micro-batches in `__sequenceId`"
        )
      if (options.producer.get("lazyStartPartitionedProducers").exists(_.equalsIgnoreCase("true")))
        refuse("with `pulsar.producer.lazyStartPartitionedProducers` the ids that brokers have are not known",
          "Remove that setting")
    }

  /** Checks the number of tasks, before any of them runs. */
  def checkTasks(task: WriteContext, info: PhysicalWriteInfo): Unit =
    if (info.numPartitions > 1 && NamedIds(task.options.producer, task.input.fieldNames.toSet))
      refuse(
        s"the write has ${info.numPartitions} tasks, and a later one may have smaller ids than an earlier one",
        "Write with one task: `coalesce(1)`, then `sortWithinPartitions` by the id. Or remove " +
          "`pulsar.producer.producerName`"
      )

  private def refuse(problem: String, action: String): Nothing =
    throw Conditions.WriteSequenceIds(problem = problem, action = action).exception
}

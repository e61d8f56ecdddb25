package io.github.pulsarspark.inspect.doctor

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{LongType, StringType, StructType}

import io.github.pulsarspark.inspect.view.{MetadataRequest, MetadataRow, MetadataView, TakenOptions}
import io.github.pulsarspark.options.MetadataOptions
import io.github.pulsarspark.storage.segment.HadoopSettings

/** Steps of [[Doctor]], in their order. */
private[inspect] object DoctorView extends MetadataView {

  override val name: String = "doctor"

  override val columns: StructType = new StructType()
    .add("step", StringType, nullable = true, "hop that was tried, in their order from this machine to the messages")
    .add("state", StringType, nullable = true,
      "`ok`, `warn`, `fail`, or `skipped` where it does not apply or cannot be tried")
    .add("tookMs", LongType, nullable = true, "time of the step in milliseconds")
    .add("detail", StringType, nullable = true, "what was found, or why the step was skipped")
    .add("condition", StringType, nullable = true, "condition of a failure or warning")
    .add("action", StringType, nullable = true, "what to do about it")

  /** Options of the query whose way is examined. */
  override val takes: TakenOptions = TakenOptions.ofReads ++
    TakenOptions.of("write", "deliveryGuarantee", "sinkId", "sinkNamespace", "progressSubscription")

  override def check(options: MetadataOptions): Unit = options.requireCluster()

  override def rows(request: MetadataRequest): Iterator[InternalRow] =
    Doctor(request.options.quick, request.options.write, HadoopSettings.of(request.fileSystems)).map { step =>
      MetadataRow(step.name, step.state, step.took.toMillis, step.detail, step.problem.map(_.condition.name),
        step.problem.map(_.action))
    }.iterator
}

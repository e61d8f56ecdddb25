package io.github.pulsarspark.inspect.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{LongType, StringType, StructType}

import io.github.pulsarspark.inspect.view.{MetadataRequest, MetadataRow, MetadataView, TakenOptions}
import io.github.pulsarspark.options.MetadataOptions
import io.github.pulsarspark.write.SinkState

/** Facts that the checkpoint of a streaming query keeps. Needs a cluster for the state of exactly-once sinks alone. */
private[inspect] object CheckpointView extends MetadataView {

  override val name: String = "checkpoint"

  override val columns: StructType = new StructType()
    .add(
      "record",
      StringType,
      nullable = true,
      "`query` (one row), `start`, `committed` or `planned` position, `time`, `loss`, `damaged` file or `sink`"
    )
    .add("source", StringType, nullable = true,
      "number of the source in its query, or its name; null for the query itself")
    .add("kind", StringType, nullable = true,
      "who wrote the offsets of the source, with the version if it is this connector")
    .add("batch", LongType, nullable = true, "number of the micro-batch; of a sink, its last epoch that is committed")
    .add("topic", StringType, nullable = true, "full name of the topic or topic partition")
    .add("position", StringType, nullable = true, "position up to and including which it is read, or lost")
    .add("detail", StringType, nullable = true,
      "in words, or the offset of another source as it is; the time of a `time`")

  override val takes: TakenOptions = TakenOptions.of("checkpoint", "topic", "sinkNamespace")

  override def check(options: MetadataOptions): Unit = options.checkpoint: Unit

  override def rows(request: MetadataRequest): Iterator[InternalRow] = {
    val checkpoint = Checkpoint(request.options.checkpoint, request.fileSystems)
    (new CheckpointFacts(checkpoint).all ++ sinks(request, checkpoint.queryId)).map(fact =>
      MetadataRow(fact.record, fact.source, fact.kind, fact.batch, fact.topic, fact.position, fact.detail)
    ).iterator
  }

  /** The exactly-once sinks of the query. Their state is in topics, in the namespace of the sink. */
  private def sinks(request: MetadataRequest, queryId: Option[String]): Seq[CheckpointFact] = {
    val found = for {
      client    <- request.options.cluster
      namespace <- request.sinkNamespace
      id        <- queryId
    } yield SinkState.ofQuery(client, namespace, id)
    found.getOrElse(Nil).map { sink =>
      val next = sink.prepared.fold("")(epoch => s"; epoch $epoch is decided, and not known to be committed")
      CheckpointFact("sink", batch = sink.done, topic = Some(sink.target), detail = Some(s"sink ${sink.id}$next"))
    }
  }
}

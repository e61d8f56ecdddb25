package io.github.pulsarspark.write.exactlyonce

import scala.concurrent.duration.FiniteDuration
import scala.util.Using

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.topics.SinkTopicNames
import io.github.pulsarspark.pulsar.transactions.ControlAccess

/** Finishes sinks without a writer, by their ids, as their next driver would. Deletes the state if there can be no next
  * driver.
  */
private[write] object SinkRepair {

  /** The sinks whose state is in a namespace, each with what its log says. */
  def logs(client: ClientOptions, namespace: String): Seq[(String, SinkLog)] =
    Using.resource(PulsarConnection(client))(connection =>
      connection.broker().matching(SinkTopicNames.logs(namespace)).partitions.keys.toSeq.sorted
        .map(SinkTopicNames.sinkOf).map(id => id -> read(connection, SinkTopics(namespace, id)))
    )

  /** Commits the recorded epoch, aborts everything else, and removes the state of a batch that cannot be repeated.
    * Fails while a driver of the sink is connected.
    */
  def apply(settings: RepairSettings): RepairedSink = {
    val log = Using.resource(PulsarConnection(settings.client)) { connection =>
      val topics = SinkTopics(settings.namespace, settings.sinkId)
      if (connection.broker().partitions(Seq(topics.log)).isEmpty) throw missing(settings.sinkId, topics)
      read(connection, topics)
    }
    log.nonce.fold(RepairedSink(None, None, 0, isRemoved = false))(finished(settings, log, _))
  }

  /** The error of an id that no sink has. */
  def missing(sinkId: String, topics: SinkTopics): Exception = Conditions.SinkState(
    sink = sinkId,
    problem = s"topic ${topics.log} does not exist",
    action = "Use the id that the log of the driver names, and the namespace of the sink's topics"
  ).exception

  private def finished(settings: RepairSettings, log: SinkLog, nonce: String): RepairedSink = {
    val found  = SinkSettings.ofLog(settings.client, settings.namespace, settings.sinkId, settings.timeout, nonce, log)
    val writer = if (settings.isLast) found.copy(isForever = false) else found
    val coordinator = SinkCoordinator.opened(writer, ControlAccess.Alone, settings.onTorn)
    val epoch       =
      try coordinator.start().map { case (prepared, outcome) => repaired(prepared, outcome) }
      finally coordinator.close()
    RepairedSink(Some(nonce), epoch, coordinator.now.aborted, coordinator.isRemoved)
  }

  private def repaired(prepared: SinkRecord.Prepared, outcome: EpochOutcome): RepairedEpoch = outcome match {
    case EpochOutcome.Committed  => RepairedEpoch(prepared.epoch, "committed", Nil)
    case EpochOutcome.Dropped    => RepairedEpoch(prepared.epoch, "dropped", prepared.transactions)
    case EpochOutcome.Torn(lost) => RepairedEpoch(prepared.epoch, "torn", lost)
  }

  private def read(connection: PulsarConnection, topics: SinkTopics): SinkLog =
    Using.resource(connection.control(topics.log).reader())(reader => SinkLog.of(reader.toEnd()))
}

/** Sink to repair, and decisions about it.
  *
  * @param timeout
  *   of transactions
  * @param isLast
  *   true if nothing will write to the sink any more, so that its state is removed, whoever owns it
  */
private[write] final case class RepairSettings(
    client: ClientOptions,
    namespace: String,
    sinkId: String,
    timeout: FiniteDuration,
    onTorn: TornEpoch,
    isLast: Boolean = false
)

/** Result of a repair.
  *
  * @param nonce
  *   the checkpoint, or kind of batch, that the state belongs to; None for an empty log
  * @param epoch
  *   one that was recorded and not finished
  * @param aborted
  *   number of transactions that no driver decided
  * @param isRemoved
  *   true if the state was no longer needed, and is removed
  */
private[write] final case class RepairedSink(
    nonce: Option[String],
    epoch: Option[RepairedEpoch],
    aborted: Long,
    isRemoved: Boolean
)

/** Outcome of a recorded epoch: `committed`, `dropped` or `torn`.
  *
  * @param lost
  *   its transactions that are not in the topic
  */
private[write] final case class RepairedEpoch(epoch: Long, outcome: String, lost: Seq[SinkTransaction])

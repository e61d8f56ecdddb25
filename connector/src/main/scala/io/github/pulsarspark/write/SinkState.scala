package io.github.pulsarspark.write

import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.write.exactlyonce.{SinkRepair, SinkSettings}

/** State of an exactly-once sink, as its log has it.
  *
  * @param target
  *   the topic that all rows go to, or `*` when rows name their topics
  * @param done
  *   the last epoch that is committed
  * @param prepared
  *   an epoch that is decided, but not known to be committed everywhere
  */
private[pulsarspark] final case class SinkState(id: String, target: String, done: Option[Long], prepared: Option[Long])

private[pulsarspark] object SinkState {

  /** The sinks of a streaming query whose state is in a namespace.
    *
    * @param queryId
    *   the id that its checkpoint holds
    */
  def ofQuery(client: ClientOptions, namespace: String, queryId: String): Seq[SinkState] =
    SinkRepair.logs(client, namespace).collect {
      case (id, log) if log.nonce.contains(SinkSettings.nonce(queryId)) =>
        SinkState(id, log.target, log.last.map(_.epoch), log.prepared.map(_.epoch))
    }
}

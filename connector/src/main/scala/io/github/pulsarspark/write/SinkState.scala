package io.github.pulsarspark.write

import io.github.pulsarspark.options.ClientOptions
import io.github.pulsarspark.write.exactlyonce.{SinkRepair, SinkSettings}

/** State of an exactly-once sink, as its log has it.
  *
  * @param nonce
  *   owner of the state: a stream, batches with numbers or one without; None before the first write
  * @param target
  *   the topic that all rows go to, or `*` when rows name their topics
  * @param done
  *   the last epoch that is committed
  * @param prepared
  *   an epoch that is decided, but not known to be committed everywhere
  */
private[pulsarspark] final case class SinkState(
    id: String,
    nonce: Option[String],
    target: String,
    done: Option[Long],
    prepared: Option[Long]
)

private[pulsarspark] object SinkState {

  /** The sinks whose state is in a namespace, by their ids. */
  def all(client: ClientOptions, namespace: String): Seq[SinkState] =
    SinkRepair.logs(client, namespace).map { case (id, log) =>
      SinkState(id, log.nonce, log.target, log.last.map(_.epoch), log.prepared.map(_.epoch))
    }

  /** Selects the sinks of a streaming query.
    *
    * @param queryId
    *   the id that its checkpoint holds
    */
  def ofQuery(client: ClientOptions, namespace: String, queryId: String): Seq[SinkState] =
    all(client, namespace).filter(_.nonce.contains(SinkSettings.nonce(queryId)))
}

package io.github.pulsarspark.options

import scala.concurrent.duration._

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.registry.CheckedOptions

/** The options of `deliveryGuarantee=exactly-once`.
  *
  * @param sinkId
  *   the name of the sink's state; without it a stream uses the id of its query, a batch a new one
  * @param namespace
  *   `tenant/namespace` of the topics with the state; without it that of the option `topic`
  * @param version
  *   of a batch that may be run again
  * @param timeout
  *   of a transaction
  * @param onMismatch
  *   for a stream whose epoch does not follow the last one of the sink
  */
private[pulsarspark] final case class ExactlyOnceOptions(
    sinkId: Option[String],
    namespace: Option[String],
    version: Option[Long],
    timeout: FiniteDuration,
    onMismatch: OnSinkMismatch
)

/** Action of a stream whose epoch does not follow the last epoch of its sink. */
private[pulsarspark] sealed trait OnSinkMismatch

private[pulsarspark] object OnSinkMismatch {
  case object Fail extends OnSinkMismatch

  /** The first epoch of the driver is written, although the sink may have its rows. */
  case object Write extends OnSinkMismatch

  /** Epochs whose numbers the sink has are skipped, although their rows may be others. */
  case object Skip extends OnSinkMismatch

  /** Parses the option's value; None for another text. */
  def parse(text: String): Option[OnSinkMismatch] =
    Seq(Fail, Write, Skip).find(_.toString.equalsIgnoreCase(text))
}

private[pulsarspark] object ExactlyOnceOptions {

  /** Reads the options; None for at-least-once. */
  def apply(options: CheckedOptions, producer: Map[String, String]): Option[ExactlyOnceOptions] = {
    val isOn = options("deliveryGuarantee").equalsIgnoreCase("exactly-once")
    val eo   = ExactlyOnceOptions(
      options.get("sinkId"),
      options.get("sinkNamespace"),
      options.get("txnVersion").map(_.toLong),
      options.duration("txnTimeout").millis,
      options.get("onSinkMismatch").flatMap(OnSinkMismatch.parse).getOrElse(OnSinkMismatch.Fail)
    )
    if (!isOn && eo.sinkId.isDefined)
      refuse("`sinkId` is set without it", "Set deliveryGuarantee=exactly-once, or remove `sinkId` and `txnVersion`")
    if (isOn) check(eo, producer)
    Option.when(isOn)(eo)
  }

  def refuse(problem: String, action: String): Nothing =
    throw Conditions.ExactlyOnceOption(problem = problem, action = action).exception

  /** Fails for names that no sink has. */
  def checkNames(sinkId: Option[String], namespace: Option[String]): Unit = {
    sinkId.filterNot(_.matches("[A-Za-z0-9._-]{1,100}")).foreach(id =>
      refuse(s"`sinkId` is `$id`", "Use 1 to 100 letters, digits, `.`, `_` and `-`")
    )
    namespace.filterNot(_.matches("[^/:\\s]+/[^/:\\s]+")).foreach(name =>
      refuse(s"`sinkNamespace` is `$name`", "Use tenant/namespace")
    )
  }

  private def check(options: ExactlyOnceOptions, producer: Map[String, String]): Unit = {
    checkNames(options.sinkId, options.namespace)
    if (options.timeout < MinTimeout)
      refuse(s"`txnTimeout` is ${options.timeout}", s"Use at least $MinTimeout")
    producer.keys.toSeq.sorted.find(Refused).foreach(name =>
      refuse(s"`pulsar.producer.$name` is set", "Remove it")
    )
  }

  private val MinTimeout = 1.second

  /** Producer settings that are refused: tasks reuse producers one after the other, and chunked messages have several
    * parts, which no test wrote in transactions.
    */
  private val Refused = Set("producerName", "accessMode", "initialSequenceId", "messageRoutingMode", "chunkingEnabled")
}

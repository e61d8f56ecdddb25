package io.github.pulsarspark.options.registry

import io.github.pulsarspark.errors.Conditions

/** The scalable topics of Pulsar 5, `topic://...`, and their segments, `segment://...`. Their parts split and merge, so
  * that what holds for partitions does not hold for them. They are refused by their names: the client of Pulsar 5 takes
  * them for persistent topics. Pure.
  */
private[pulsarspark] object ScalableTopics {
  private val Domains = Seq("topic://", "segment://")

  /** Fails with `PULSAR_TOPIC_SCALABLE` if this is the name of one, or an expression for names of such. */
  def refuse(name: String): Unit =
    if (Domains.exists(name.trim.startsWith)) throw Conditions.TopicScalable(topic = name.trim).exception

  /** Fails if the value of an option names one. */
  private[registry] def check(definition: OptionDefinition, value: String): Unit = definition.valueType match {
    case "topicList"              => OptionValue.topics(value).foreach(refuse)
    case "topic" | "topicPattern" => refuse(value)
    case _                        => ()
  }
}

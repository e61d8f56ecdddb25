package io.github.pulsarspark.options

import io.github.pulsarspark.options.registry.{CheckedOptions, OptionValue}

/** The topics that a read or write names, not yet resolved against the cluster. */
sealed trait TopicSelection extends Serializable

object TopicSelection {
  final case class Named(topics: Seq[String]) extends TopicSelection
  final case class Matching(pattern: String)  extends TopicSelection

  private[options] def apply(options: CheckedOptions): TopicSelection =
    options.get("topicsPattern").map(Matching(_)).getOrElse {
      Named((options.get("topic").toSeq ++ options.get("topics").toSeq.flatMap(OptionValue.topics)).distinct)
    }
}

package io.github.pulsarspark.options

import io.github.pulsarspark.options.registry.{CheckedOptions, OptionValue}

/** The topics that a read or write names, not yet resolved against the cluster. */
sealed trait TopicSelection extends Serializable {

  /** Selection as the user wrote it; the first topic of a long list. */
  def shown: String
}

object TopicSelection {
  final case class Named(topics: Seq[String]) extends TopicSelection {
    override def shown: String =
      if (topics.size > MaxShown) s"${topics.head}, ... (${topics.size} topics)" else topics.mkString(", ")
  }

  final case class Matching(pattern: String) extends TopicSelection {
    override def shown: String = pattern
  }

  private val MaxShown = 3

  private[options] def apply(options: CheckedOptions): TopicSelection =
    options.get("topicsPattern").map(Matching(_)).getOrElse {
      Named((options.get("topic").toSeq ++ options.get("topics").toSeq.flatMap(OptionValue.topics)).distinct)
    }
}

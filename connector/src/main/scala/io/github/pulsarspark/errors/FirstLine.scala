package io.github.pulsarspark.errors

/** First line of an exception's message without the period. The Pulsar client appends its state on later lines. */
private[pulsarspark] object FirstLine {
  def apply(e: Throwable): String = Option(e.getMessage)
    .flatMap(_.linesIterator.nextOption())
    .map(_.trim.stripSuffix("."))
    .filter(_.nonEmpty)
    .getOrElse(e.getClass.getSimpleName)
}

package io.github.pulsarspark.options.registry

import java.util.concurrent.atomic.AtomicBoolean

import org.slf4j.LoggerFactory

/** Reports once which options of a query were translated. Spark checks the options of one query repeatedly. */
private[pulsarspark] final class TranslationWarning private (log: String => Unit) {

  private val isWritten = new AtomicBoolean

  def apply(translations: Seq[String]): Unit =
    if (translations.nonEmpty && isWritten.compareAndSet(false, true))
      log(s"Options of streamnative/pulsar-spark are used: ${translations.mkString(", ")}. See docs/use/options.md.")
}

private[pulsarspark] object TranslationWarning {
  private val logger = LoggerFactory.getLogger(classOf[TranslationWarning])

  def apply(log: String => Unit = logger.warn): TranslationWarning = new TranslationWarning(log)
}

package io.github.pulsarspark.pulsar.transactions

import com.fasterxml.jackson.databind.JsonNode
import org.slf4j.Logger

import io.github.pulsarspark.pulsar.admin.AdminApi

/** A warning of policies of a namespace or topic, which waits for nothing and fails nothing. */
private[transactions] object PolicyWarning {

  /** Logs it as soon as the admin service answers.
    *
    * @param path
    *   of the policies in the admin service
    * @param what
    *   the policies in words, without an article
    * @param found
    *   what to warn of; empty for no warning
    */
  def apply(log: Logger, admin: AdminApi, path: String, what: String)(found: JsonNode => Seq[String])(
      warn: String => Unit
  ): Unit = {
    admin.find(path).whenComplete { (answer, error) =>
      if (error != null) log.info("The {} are not known: {}", what, error.toString: Any)
      else answer.map(found).filter(_.nonEmpty).foreach(some => warn(some.mkString(", ")))
    }
    ()
  }
}

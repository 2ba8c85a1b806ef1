; Made by `python editors/generators` of grammar/qps.lark: change that instead.

(machine "{" _* @class.inside "}") @class.around
(network "{" _* @class.inside "}") @class.around
(component "{" _* @function.inside "}") @function.around
(stream "{" _* @function.inside "}") @function.around

(comment) @comment.inside
(comment)+ @comment.around
